// The entry `parley-rooms/client`: the chat's client for applications that are built with a bundler, or run in Node.
export { connectDirect } from "../core/direct.ts";
export { connectRoom } from "../core/room.ts";
export type * from "../core/api.ts";
export type * from "../../src/protocol/chat-events.ts";
