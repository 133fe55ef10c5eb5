// The properties of components that draw a part of the room on the screen.
import type { ChatStore } from "../state/chat-store.ts";
import type { RoomView } from "../state/room-view.ts";

export interface ViewProps {
  readonly view: RoomView;
}

/** The parts of the page that load once the room is on the screen. */
export type Later = typeof import("./later.tsx");

export interface ChatProps extends ViewProps {
  readonly store: ChatStore;
}

export interface ChatPropsWithLater extends ChatProps {
  readonly later: Later | undefined;
}
