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
  jwtSecret: { meaning: "Verifies tokens that are signed with HS256, and signs the tokens of guests." },
  jwtSecretPrevious: { meaning: "The secret before `JWT_SECRET`. Its tokens stay valid while you rotate the secret." },
  jwtPublicKey: { meaning: "Verifies tokens that are signed with RS256, ES256 or EdDSA." },
  jwtJwksUrl: {
    meaning:
      "The server fetches public keys from this address, usually that of an [identity provider](identity-providers.md).",
  },
  jwtIssuer: { meaning: "A token must have this `iss`." },
  jwtAudience: {
    meaning: "A token must have this `aud`. Set it whenever the provider signs tokens for other applications, too.",
  },
  claimUser: { meaning: "The claim that holds the user id: its name, or a dotted path." },
  claimName: { meaning: "The claim that holds the name that others see." },
  claimRole: { meaning: "The claim that holds the role: `member`, `moderator`, `reader` or `service`." },
  claimRooms: { meaning: "The claim that lists the rooms that the token opens." },
  allowUnexpiringTokens: { meaning: "Whether a token may lack `exp`." },
  transports: { meaning: "The transports that clients may use." },
  authAt: { meaning: "`upgrade` refuses requests for a connection that bring no token." },
  allowedOrigins: {
    defaultText: "the request's own origin (development: `*`)",
    meaning:
      "The origins from which pages may connect. Name those of native shells and extensions, too (`capacitor://localhost`). It concerns browsers only.",
  },
  guestAccess: {
    defaultText: "`off` (development: `on` with `JWT_SECRET`)",
    meaning: "`POST /api/guest` gives a token to any visitor, and the next token to a guest who brings an earlier one.",
  },
  guestRooms: {
    defaultText: "every room",
    meaning: "The rooms that guests may enter. Without `dm~*` in it guests have no direct messages.",
  },
  signInUrl: {
    meaning:
      "The chat page sends visitors to this address to sign in, with the address to come back to in the place of `{return}`. They come back [with a token or a cookie](identity-providers.md#a-sign-in-page).",
  },
  roomList: { meaning: "Whether members may list the rooms that their tokens open." },
  messageRate: { unit: "messages per second", meaning: "Posts of one user in one room." },
  messageBurst: { unit: "messages", meaning: "Posts that a user may send at once before `MESSAGE_RATE` holds." },
  guestRatePerIp: {
    unit: "messages per second",
    defaultText: "`MESSAGE_RATE` (development: `0`)",
    meaning:
      "Posts and edits in one room by all guests of one address together, `MESSAGE_BURST` at once; 0 is no limit.",
  },
  maxContentLength: { unit: "characters", meaning: "The length of a message." },
  editWindowSeconds: {
    unit: "seconds",
    meaning: "Authors may edit a message for so long after posting it; 0 is never. Moderators may edit at any time.",
  },
  maxPayloadBytes: { unit: "bytes", meaning: "The size of one received frame, and of a JSON body of the HTTP API." },
  maxMembers: { unit: "sockets", meaning: "Sockets that one object holds: a room, or one of its shards." },
  crowdMembers: {
    unit: "members",
    meaning:
      "A room with more members is large: its members get the numbers of those who come, go and type, and no names. With more than half of them a read mark goes to its own user only.",
  },
  crowdShownRate: {
    unit: "messages per second",
    meaning:
      "Messages, edits and deletions that a large room delivers in a second; 0 is all. The room stores further messages and notifies everybody of their seqs. It always delivers those of moderators.",
  },
  maxShards: {
    unit: "shards",
    meaning:
      "Further objects that hold the sockets of a room beyond `MAX_MEMBERS`, if `ROOM_SHARD` is bound; 0 turns them off.",
  },
  shardFanOut: {
    unit: "shards",
    meaning:
      "Shards to which one object sends messages. With more shards than that, the first ones forward messages to the others.",
  },
  maxConnectionsPerIp: {
    unit: "connections",
    meaning:
      "Connections of one address (IPv6: one /64) in one room, and 16 times as many of one IPv6 /48; 0 is no limit. Connections that have joined no room yet count in all rooms of an isolate together.",
  },
  maxConnectionsPerUser: {
    unit: "connections",
    meaning: "Connections of one user in one room, from all addresses together; 0 is no limit.",
  },
  maxRoomsPerUser: {
    unit: "rooms",
    meaning:
      "Rooms that a user is in at a time, on all devices; the guests of one address count as one user, services not at all; 0 is no limit. An isolate counts at once. Across isolates each directory counts what heartbeats say of the 20 who came last, and disconnects a user in one room too many some seconds after the connect. A room that has slept for five minutes (for a directory: 35) does not count.",
  },
  newRoomsPerUser: {
    unit: "rooms",
    meaning:
      "Rooms that a user begins in an hour, by a join, a call or an upload: rooms where nobody is and nothing was stored; 0 is no limit. Counted as `MAX_ROOMS_PER_USER` is. A directory forgets what it counted when it sleeps. Conversations of two people have a limit of their own (DM-5).",
  },
  connectRatePerIp: {
    unit: "per minute",
    meaning: "Connections that one address opens, and as many tokens for guests, in each isolate; 0 is no limit.",
  },
  apiRate: { unit: "calls per second", meaning: "Calls of the HTTP API by one user, in each isolate." },
  apiBurst: { unit: "calls", meaning: "Calls that a user may make at once before `API_RATE` holds." },
  pingIntervalMs: { unit: "ms", meaning: "The time from one heartbeat to the next." },
  pingTimeoutMs: { unit: "ms", meaning: "A connection that leaves a heartbeat unanswered for so long is closed." },
  connectTimeoutMs: { unit: "ms", meaning: "A connection that joins no namespace within this time is closed." },
  recoveryWindowSeconds: {
    unit: "seconds",
    meaning: "A client may recover a broken connection for so long; 0 turns recovery off.",
  },
  compression: {
    meaning:
      "Compresses frames (permessage-deflate), at some 200 KB of memory per connection. A deployment also removes `no_web_socket_compression` from wrangler.toml.",
  },
  flushWindowMs: {
    unit: "ms",
    meaning:
      "A busy room commits once per window. With more than 1,000 connections it is longer in proportion, at most ten times and a second.",
  },
  flushBurst: {
    unit: "batches",
    meaning:
      "After quiet a small room may commit so many batches ahead of their windows, 200 / connections at most. 1 makes each batch wait.",
  },
  durability: { meaning: "`relaxed` lets a busy room deliver messages up to a second before it stores them." },
  historyDays: { unit: "days", meaning: "A room retains messages that are younger than this, and up to a tenth more." },
  historyMessages: { unit: "messages", meaning: "A room retains so many messages, and up to a tenth more." },
  fileBytesMax: { unit: "bytes", meaning: "The size of one uploaded file." },
  uploadBytesPerUserDay: {
    unit: "bytes",
    meaning:
      "Files that a user uploads in 24 hours, all rooms together; a small one counts as a 16,384th of it, a failed one as what was received of it; 0 is no limit. The guests of one address count as one user, services not at all. It needs the binding `LOBBY`.",
  },
  fileTypes: {
    defaultText: "pictures, sound, films, text, PDF, office documents, archives",
    meaning: "The types of files that members may upload.",
  },
  lobbies: {
    unit: "objects",
    meaning: "The number of objects that share the list of rooms. A new number begins the list again.",
  },
  relay: {
    defaultText: "`queue` (`npm run serve`: `direct`)",
    meaning:
      "How linked rooms reach each other: through a queue, by direct calls, or not at all. See [relay.md](relay.md).",
  },
  metricsToken: {
    meaning:
      "`GET /metrics` asks for this token. Without it any client may read the metrics. See [operations.md](operations.md).",
  },
  linkCards: {
    meaning: "Whether the server fetches pages that messages link to, for their [link cards](features.md#link-cards).",
  },
  logLevel: { meaning: "The server logs lines of this level and above." },
  logSampling: { meaning: "The share of lines below `warn` that the server logs; 1 is all." },
  webhookUrl: { meaning: "The server POSTs events of all rooms to this address. See [webhooks.md](webhooks.md)." },
  webhookSecret: { meaning: "Signs the webhooks." },
};
