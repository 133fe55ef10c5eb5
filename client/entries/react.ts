// The entry `parley-rooms/react`: hooks over the store of a room. docs/react.md explains them.
export { ParleyProvider, RoomProvider, useRoom } from "../react/providers.ts";
export type { ParleyProviderProps, RoomProviderProps } from "../react/providers.ts";
export * from "../react/hooks.ts";
export { hooksFor, type OwnHooks } from "../react/custom-hooks.ts";
export { useRoomState } from "../react/use-part.ts";
export { parseMarkup, type Block, type Inline } from "../store/markup.ts";
export { canonicalEmoji } from "../../src/protocol/text/characters.ts";
export { initialsOf } from "../../src/protocol/text/initials.ts";
export type { MessageItem, OutgoingItem, StoredItem } from "../store/message-items.ts";
export type { RoomHandle, RoomOptions } from "../store/shared-rooms.ts";
export type { Unread } from "../store/unread.ts";
export type * from "../core/api.ts";
export type * from "../core/feature-events.ts";
export type * from "../store/api.ts";
export type * from "../store/state.ts";
export type * from "../../src/protocol/chat-events.ts";
