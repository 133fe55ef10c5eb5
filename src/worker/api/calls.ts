// The calls of the HTTP API. Each is a value in a file of its feature, with its input and its answers. A call about what
// happens in a room asks the room for the event of the same meaning, so that its rules live once, in the room (API-2).
import type { ApiCall } from "./call.ts";
import { LOBBY_CALLS } from "./calls/all-rooms.ts";
import { ANNOUNCE_CALLS } from "./calls/announce.ts";
import { DIRECT_CALLS } from "./calls/direct.ts";
import { FILE_CALLS } from "./calls/files.ts";
import { MESSAGE_CALLS } from "./calls/messages.ts";
import { MODERATION_CALLS } from "./calls/moderation.ts";
import { OWN_CALLS } from "./calls/own-events.ts";
import { RELAY_CALLS } from "./calls/relay.ts";
import { ROOM_CALLS } from "./calls/rooms.ts";
import { UNREAD_CALLS } from "./calls/unread.ts";
import { STATS_CALLS } from "./calls/usage.ts";

export const CALLS: readonly ApiCall[] = [
  ...ROOM_CALLS,
  ...MESSAGE_CALLS,
  ...MODERATION_CALLS,
  ...OWN_CALLS,
  ...LOBBY_CALLS,
  ...FILE_CALLS,
  ...RELAY_CALLS,
  ...STATS_CALLS,
  ...ANNOUNCE_CALLS,
  ...DIRECT_CALLS,
  ...UNREAD_CALLS,
];
