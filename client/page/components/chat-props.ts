// The properties of components that draw a part of the room on the screen.
import type { ChatStore } from "../state/chat-store.ts";
import type { RoomView } from "../state/room-view.ts";

export interface ViewProps {
  readonly view: RoomView;
}

export interface ChatProps extends ViewProps {
  readonly store: ChatStore;
}
