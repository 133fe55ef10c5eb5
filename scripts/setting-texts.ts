// The words of docs/settings.md about each setting. Called by settings-page.ts. They stand here and not beside the declarations, so that
// they are no part of the Worker.
import type { Declared } from "../src/settings/declared.ts";

interface SettingText {
  readonly unit?: string;
  /** The default in words, if the value does not show it. */
  readonly defaultText?: string;
  readonly meaning: string;
}

export const TEXTS: Readonly<Record<keyof Declared, SettingText>> = {
  jwtSecret: { meaning: "Verifies HS256 tokens, signs those of guests." },
  jwtSecretPrevious: {
    meaning: "The one before, [while you rotate it](identity-providers.md#rotating-your-own-secret).",
  },
  jwtPublicKey: { meaning: "Verifies RS256, ES256 or EdDSA tokens." },
  jwtJwksUrl: {
    meaning: "Public keys of an [identity provider](identity-providers.md).",
  },
  jwtIssuer: { meaning: "The `iss` of tokens." },
  jwtAudience: {
    meaning: "The `aud` of tokens.",
  },
  claimUser: { meaning: "The [claim](identity-providers.md) of the user id." },
  claimName: { meaning: "That of the name that others see." },
  claimRole: { meaning: "That of the role." },
  claimRooms: { meaning: "That of the rooms that the token opens." },
  allowUnexpiringTokens: { meaning: "A token may lack `exp`." },
  transports: { meaning: "Those that clients may use." },
  authAt: { meaning: "`upgrade` refuses connections without a token." },
  allowedOrigins: {
    defaultText: "the request's own origin (development: `*`)",
    meaning: "Pages, native shells and extensions (`capacitor://localhost`) that may connect.",
  },
  guestAccess: {
    defaultText: "`off` (development: `on` with `JWT_SECRET`)",
    meaning: "`POST /api/guest` gives a token to any visitor.",
  },
  guestRooms: {
    defaultText: "every room",
    meaning: "The rooms that guests may enter; `dm~*` are direct messages.",
  },
  signInUrl: {
    meaning: "Where visitors of the chat page [sign in](identity-providers.md#a-sign-in-page).",
  },
  roomList: { meaning: "Members may list the rooms that their tokens open." },
  messageRate: { unit: "a second", meaning: "Posts of one user in one room." },
  messageBurst: { meaning: "Posts at once." },
  guestRatePerIp: {
    unit: "a second",
    defaultText: "`MESSAGE_RATE` (development: `0`)",
    meaning: "Posts and edits in one room by all guests of one address, `MESSAGE_BURST` at once.",
  },
  maxContentLength: { unit: "characters", meaning: "One message." },
  editWindowSeconds: {
    meaning: "How long authors may edit a message; 0: never.",
  },
  maxPayloadBytes: { unit: "bytes", meaning: "One received frame, or JSON body of the HTTP API." },
  maxMembers: { meaning: "Sockets that one object holds: a room, or one of its [shards](scale.md)." },
  crowdMembers: {
    meaning: "A room with more members is [large](scale.md#large-rooms); 0: each.",
  },
  crowdShownRate: {
    unit: "a second",
    meaning: "Messages, edits and deletions that a large room delivers (CROWD-1); 0: all.",
  },
  maxShards: {
    meaning: "Objects for a room's sockets beyond `MAX_MEMBERS`, if `ROOM_SHARD` is bound; 0: none.",
  },
  shardFanOut: {
    meaning: "Shards to which one object sends; they forward to further ones.",
  },
  maxConnectionsPerIp: {
    meaning:
      "Connections of one address (IPv6: /64) in one room, and 16 times as many of one IPv6 /48. Those that have joined none yet count in all rooms of an isolate together.",
  },
  maxConnectionsPerUser: {
    meaning: "Connections of one user in one room.",
  },
  maxRoomsPerUser: {
    meaning:
      "Rooms that a user is in at a time \\*, without those that have slept for five minutes. Across isolates a user may be in more for some seconds (LIM-8).",
  },
  newRoomsPerUser: {
    meaning: "New rooms that a user enters or writes to in an hour \\*, without direct messages (DM-5).",
  },
  connectRatePerIp: {
    unit: "a minute",
    meaning: "Connections that one address opens, and as many tokens for guests, in each isolate.",
  },
  apiRate: { unit: "a second", meaning: "Calls of the HTTP API by one user, in each isolate." },
  apiBurst: { meaning: "Calls at once." },
  pingIntervalMs: { meaning: "Between heartbeats." },
  pingTimeoutMs: {
    meaning: "How long a connection may leave a heartbeat unanswered.",
  },
  connectTimeoutMs: { meaning: "How long a connection may be in no namespace." },
  recoveryWindowSeconds: {
    meaning: "How long a client may recover a broken connection; 0: never.",
  },
  compression: {
    meaning:
      "Compresses frames, at some 200 KB per connection. In a deployment remove the flag `no_web_socket_compression`, too.",
  },
  flushWindowMs: {
    meaning:
      "A busy room commits once per window, which grows with more than 1,000 connections, to ten times and a second at most.",
  },
  flushBurst: {
    meaning:
      "Batches that a small room commits at once after quiet, 200 / connections at most; 1: each waits for its window.",
  },
  durability: { meaning: "`relaxed`: a busy room delivers messages up to a second before it stores them." },
  historyDays: { meaning: "How long a room retains messages; up to a tenth and an hour longer." },
  historyMessages: { meaning: "Messages that a room retains; up to a tenth more." },
  fileBytesMax: { meaning: "One uploaded file." },
  uploadBytesPerUserDay: {
    meaning:
      "Files that a user uploads in 24 hours \\*; each counts as a 16,384th of it at least. Needs the binding `LOBBY`.",
  },
  fileTypes: {
    defaultText: "[below](#the-default-of-file_types)",
    meaning: "Types that members may upload.",
  },
  lobbies: {
    meaning: "Objects that share the list of rooms; a new number begins it again.",
  },
  relay: {
    defaultText: "`queue` (`npm run serve`: `direct`)",
    meaning: "How [linked rooms](relay.md) reach each other.",
  },
  metricsToken: {
    meaning: "The token for the [metrics](operations.md#watch-it-with-prometheus).",
  },
  linkCards: {
    meaning: "[Link cards](features.md#link-cards).",
  },
  logLevel: { meaning: "The lowest level that is logged." },
  logSampling: { meaning: "The share of lines below `warn`." },
  webhookUrl: { meaning: "Gets the events of all rooms: [webhooks](webhooks.md)." },
  webhookSecret: { meaning: "Signs the webhooks." },
};
