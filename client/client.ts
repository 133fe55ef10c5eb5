// The ES module served at GET /client.js: everything an application may import.
export { connectRoom } from "./room.ts";
export type { Room, RoomEvents, RoomSocket, SendOptions, Token } from "./room.ts";
export type {
  ErrorAnswer,
  HistoryAnswer,
  HistoryPayload,
  Member,
  Message,
  Notice,
  PostAnswer,
  PresenceAnswer,
  PresenceChange,
  RefusalCode,
  Welcome,
} from "../src/protocol/chat-events.ts";
export type { ModerationChange } from "../src/protocol/moderation-events.ts";
