// A message, for tests of parts that take messages from anywhere. Called by the tests of client/store and client/page.
import type { Message } from "../../src/protocol/chat-events.ts";

export const NOON = new Date(2026, 10, 21, 12).getTime();

export const messageOf = (seq: number, more: Partial<Message> = {}): Message => ({
  id: `id${seq}`,
  seq,
  room: "general",
  sender: "ben",
  name: "Ben",
  content: `m${seq}`,
  timestamp: NOON,
  ...more,
});
