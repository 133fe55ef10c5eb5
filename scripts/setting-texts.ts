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
  jwtSecret: { meaning: "Verifies HS256 tokens, and signs those of guests." },
  jwtSecretPrevious: { meaning: "The secret before: its tokens stay valid while you rotate it." },
  jwtPublicKey: { meaning: "Verifies RS256, ES256 or EdDSA tokens." },
  jwtJwksUrl: {
    meaning: "The address of public keys, usually that of an [identity provider](identity-providers.md).",
  },
  jwtIssuer: { meaning: "A token must have this `iss`." },
  jwtAudience: {
    meaning: "A token must have this `aud`. Set it if the provider signs tokens for other applications, too.",
  },
  claimUser: { meaning: "The claim of the user id: its name, or a dotted path." },
  claimName: { meaning: "The claim of the name that others see." },
  claimRole: { meaning: "The claim of the role: `member`, `moderator`, `reader` or `service`." },
  claimRooms: { meaning: "The claim of the rooms that the token opens." },
  allowUnexpiringTokens: { meaning: "Whether a token may lack `exp`." },
  transports: { meaning: "The transports that clients may use." },
  authAt: { meaning: "`upgrade` refuses connections without a token." },
  allowedOrigins: {
    defaultText: "the request's own origin (development: `*`)",
    meaning: "The origins of pages, native shells and extensions (`capacitor://localhost`) that may connect.",
  },
  guestAccess: {
    defaultText: "`off` (development: `on` with `JWT_SECRET`)",
    meaning: "`POST /api/guest` gives a token to any visitor.",
  },
  guestRooms: {
    defaultText: "every room",
    meaning: "The rooms that guests may enter. Without `dm~*` in it guests have no direct messages.",
  },
  signInUrl: {
    meaning:
      "Where the chat page sends visitors to [sign in](identity-providers.md#a-sign-in-page); `{return}` becomes the address to come back to.",
  },
  roomList: { meaning: "Whether members may list the rooms that their tokens open." },
  messageRate: { unit: "messages per second", meaning: "Posts of one user in one room." },
  messageBurst: { unit: "messages", meaning: "Posts at once before `MESSAGE_RATE` holds." },
  guestRatePerIp: {
    unit: "messages per second",
    defaultText: "`MESSAGE_RATE` (development: `0`)",
    meaning: "Posts and edits in one room by all guests of one address, `MESSAGE_BURST` at once; 0: no limit.",
  },
  maxContentLength: { unit: "characters", meaning: "The length of a message." },
  editWindowSeconds: {
    unit: "seconds",
    meaning: "How long authors may edit a message; 0: never. Moderators may edit at any time.",
  },
  maxPayloadBytes: { unit: "bytes", meaning: "The size of one received frame, and of a JSON body of the HTTP API." },
  maxMembers: { unit: "sockets", meaning: "Sockets that one object holds: a room, or one of its shards." },
  crowdMembers: {
    unit: "members",
    meaning:
      "A room with more members is large: members get the numbers of those who come, go and type, and no names. With more than half as many a read mark goes to its own user only.",
  },
  crowdShownRate: {
    unit: "messages per second",
    meaning:
      "Messages, edits and deletions that a large room delivers; 0: all. It notifies members of the seqs of others, and always delivers those of moderators.",
  },
  maxShards: {
    unit: "shards",
    meaning: "Further objects for a room's sockets beyond `MAX_MEMBERS`, if `ROOM_SHARD` is bound; 0: none.",
  },
  shardFanOut: {
    unit: "shards",
    meaning: "Shards to which one object sends messages. The first ones forward them to further shards.",
  },
  maxConnectionsPerIp: {
    unit: "connections",
    meaning:
      "Connections of one address (IPv6: /64) in one room, and 16 times as many of one IPv6 /48; 0: no limit. Those that have joined no room yet count in all rooms of an isolate together.",
  },
  maxConnectionsPerUser: {
    unit: "connections",
    meaning: "Connections of one user in one room; 0: no limit.",
  },
  maxRoomsPerUser: {
    unit: "rooms",
    meaning:
      "Rooms that a user is in at a time; the guests of one address count as one user, services not at all; 0: no limit. Across isolates the directory disconnects a user in a room too many some seconds later (LIM-8). A room that has slept for five minutes does not count.",
  },
  newRoomsPerUser: {
    unit: "rooms",
    meaning:
      "New rooms that a user enters or writes to in an hour, counted as `MAX_ROOMS_PER_USER` is; 0: no limit. Direct messages have a limit of their own (DM-5).",
  },
  connectRatePerIp: {
    unit: "per minute",
    meaning: "Connections that one address opens, and as many tokens for guests, in each isolate; 0: no limit.",
  },
  apiRate: { unit: "calls per second", meaning: "Calls of the HTTP API by one user, in each isolate." },
  apiBurst: { unit: "calls", meaning: "Calls at once before `API_RATE` holds." },
  pingIntervalMs: { unit: "ms", meaning: "The time from one heartbeat to the next." },
  pingTimeoutMs: {
    unit: "ms",
    meaning: "The server closes a connection that leaves a heartbeat unanswered for so long.",
  },
  connectTimeoutMs: { unit: "ms", meaning: "The server closes a connection that has joined no namespace by then." },
  recoveryWindowSeconds: {
    unit: "seconds",
    meaning: "How long a client may recover a broken connection; 0: never.",
  },
  compression: {
    meaning:
      "Compresses frames, at some 200 KB of memory per connection. In a deployment remove the flag `no_web_socket_compression`, too.",
  },
  flushWindowMs: {
    unit: "ms",
    meaning:
      "A busy room commits once per window. With more than 1,000 connections the window grows in proportion, at most to ten times and a second.",
  },
  flushBurst: {
    unit: "batches",
    meaning:
      "After quiet a small room commits so many batches without waiting for their windows, at most 200 / connections. 1: each waits.",
  },
  durability: { meaning: "`relaxed` lets a busy room deliver messages up to a second before it stores them." },
  historyDays: { unit: "days", meaning: "How long a room retains messages, and up to a tenth longer." },
  historyMessages: { unit: "messages", meaning: "Messages that a room retains, and up to a tenth more." },
  fileBytesMax: { unit: "bytes", meaning: "The size of one uploaded file." },
  uploadBytesPerUserDay: {
    unit: "bytes",
    meaning:
      "Files that a user uploads in 24 hours; each counts as a 16,384th of it at least; 0: no limit. The guests of one address count as one user, services not at all. It needs the binding `LOBBY`.",
  },
  fileTypes: {
    defaultText: "pictures, sound, films, text, PDF, office documents, archives",
    meaning: "Types that members may upload.",
  },
  lobbies: {
    unit: "objects",
    meaning: "Objects that share the list of rooms. A new number begins the list again.",
  },
  relay: {
    defaultText: "`queue` (`npm run serve`: `direct`)",
    meaning: "How [linked rooms](relay.md) reach each other: by a queue, by direct calls, or not at all.",
  },
  metricsToken: {
    meaning: "The token for `GET /metrics`. Without it any client may read the [metrics](operations.md).",
  },
  linkCards: {
    meaning: "Whether the server fetches linked pages for [link cards](features.md#link-cards).",
  },
  logLevel: { meaning: "The lowest level that the server logs." },
  logSampling: { meaning: "The share of lines below `warn` that the server logs." },
  webhookUrl: { meaning: "Gets the events of all rooms: [webhooks](webhooks.md)." },
  webhookSecret: { meaning: "Signs the webhooks." },
};
