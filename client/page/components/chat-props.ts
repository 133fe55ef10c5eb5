// The properties of components that draw a part of the room on the screen, and the items that a menu draws.
import type { ChatStore } from "../state/chat-store.ts";
import type { Composing } from "../state/composing.ts";
import type { RoomView } from "../state/room-view.ts";
import type { MenuIconName } from "./menu-icons.tsx";

export interface ViewProps {
  readonly view: RoomView;
}

export interface ChatProps extends ViewProps {
  readonly store: ChatStore;
}

/** Of a part in which the reader writes: the stream, or a thread. */
export interface WritingProps extends ChatProps {
  readonly composing: Composing;
}

export interface MenuItem {
  readonly label: string;
  readonly icon: MenuIconName;
  readonly act: () => void;
  readonly isGrave?: boolean;
  /** In a row of which one item is chosen: whether this one is. */
  readonly isChosen?: boolean;
  /** What is chosen in that row; read aloud before the label. */
  readonly choice?: string;
}
