// The entry `parley-rooms/client`: the chat's client for applications that are built with a bundler, or run in Node.
export { connectDirect } from "../core/direct.ts";
export { connectRoom } from "../core/room.ts";
export { readersOf } from "../store/read-marks.ts";
export { createRoomStore } from "../store/room-store.ts";
export { unreadOf, type Unread } from "../store/unread.ts";
export type { ClientSocketOf } from "../core/application-types.ts";
export type * from "../core/api.ts";
export type * from "../store/api.ts";
export type * from "../store/state.ts";
export type * from "../../src/protocol/chat-events.ts";
