// The ES module served at GET /client.js: rooms, without the store. client.d.ts has its types, and those that events are made of.
export { connectDirect } from "./direct.ts";
export { connectRoom } from "./room.ts";
export type * from "./api.ts";
export type * from "./feature-events.ts";
export type * from "../../src/protocol/chat-events.ts";
export type * from "../../src/protocol/webhook-events.ts";
