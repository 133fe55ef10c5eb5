// Declares every setting once: its variable, kind with bounds, default, unit and meaning. settings.ts reads variables by it, and
// scripts/settings-page.ts writes docs/settings.md from it.
import { CLAIM_NAMES } from "./tokens/claims.ts";
import * as kind from "./kinds.ts";
import { LOG_LEVELS } from "./log.ts";
import { optional, setting, type Setting } from "./setting.ts";

/** Timers of JavaScript clients overflow at 2^31 - 1 ms; a client would time out at once. */
export const TIMER_MS_MAX = 2 ** 31 - 1;

/** The limit of the platform for one received WebSocket message. */
const PAYLOAD_BYTES_MAX = 32 * 1024 * 1024;

/** WebSockets that the platform lets one Durable Object hold. */
const MEMBERS_MAX = 32_768;

/** Each is asked for every page of the list. */
const LOBBIES_MAX = 64;

/** A hundred years: for as long as messages are kept. */
const EDIT_WINDOW_SECONDS_MAX = 3_155_760_000;

/** The platform takes a request of 100 MB on every plan. */
const FILE_BYTES_MAX = 100_000_000;

/** RFC 7518, section 3.2: as long as what HS256 makes of it. */
const JWT_SECRET_BYTES_MIN = 32;
const SECRET_BYTES_MIN = 16;

/** Of the name of a claim, or the path to it. */
const claim = kind.textUpTo(256);

/** Types that people send each other, and that no browser runs. */
const FILE_TYPES_DEFAULT: readonly string[] = [
  ...["png", "jpeg", "gif", "webp", "avif"].map((type) => `image/${type}`),
  "audio/*",
  "video/*",
  ...["plain", "csv", "markdown"].map((type) => `text/${type}`),
  ...["pdf", "json", "zip", "gzip", "rtf", "msword", "vnd.ms-excel", "vnd.ms-powerpoint"].map(
    (type) => `application/${type}`,
  ),
  ...["wordprocessingml.document", "spreadsheetml.sheet", "presentationml.presentation"].map(
    (type) => `application/vnd.openxmlformats-officedocument.${type}`,
  ),
  ...["text", "spreadsheet", "presentation"].map((type) => `application/vnd.oasis.opendocument.${type}`),
];

const KEYS = {
  jwtSecret: optional("JWT_SECRET", kind.secret(JWT_SECRET_BYTES_MIN), {
    meaning: "Verifies tokens that are signed with HS256, and signs the tokens of guests.",
  }),
  jwtSecretPrevious: optional("JWT_SECRET_PREVIOUS", kind.secret(JWT_SECRET_BYTES_MIN), {
    meaning: "The secret before `JWT_SECRET`. Its tokens stay valid while you rotate the secret.",
  }),
  jwtPublicKey: optional("JWT_PUBLIC_KEY", kind.publicKey, {
    meaning: "Verifies tokens that are signed with RS256, ES256 or EdDSA.",
  }),
  jwtJwksUrl: optional("JWT_JWKS_URL", kind.url, {
    meaning:
      "The server fetches public keys from this address, usually that of an [identity provider](identity-providers.md).",
  }),
  jwtIssuer: optional("JWT_ISSUER", kind.text, { meaning: "A token must have this `iss`." }),
  jwtAudience: optional("JWT_AUDIENCE", kind.text, {
    meaning: "A token must have this `aud`. Set it whenever the provider signs tokens for other applications, too.",
  }),
  claimUser: setting("CLAIM_USER", claim, {
    default: CLAIM_NAMES.user,
    meaning: "The claim that holds the user id: its name, or a dotted path.",
  }),
  claimName: setting("CLAIM_NAME", claim, {
    default: CLAIM_NAMES.name,
    meaning: "The claim that holds the name that others see.",
  }),
  claimRole: setting("CLAIM_ROLE", claim, {
    default: CLAIM_NAMES.role,
    meaning: "The claim that holds the role: `member`, `moderator`, `reader` or `service`.",
  }),
  claimRooms: setting("CLAIM_ROOMS", claim, {
    default: CLAIM_NAMES.rooms,
    meaning: "The claim that lists the rooms that the token opens.",
  }),
  allowUnexpiringTokens: setting("ALLOW_UNEXPIRING_TOKENS", kind.onOff, {
    default: false,
    meaning: "Whether a token may lack `exp`.",
  }),
};

const ACCESS = {
  transports: setting("TRANSPORTS", kind.transports, {
    default: ["websocket", "polling"],
    meaning: "The transports that clients may use.",
  }),
  authAt: setting("AUTH_AT", kind.oneOf("connect", "upgrade"), {
    default: "connect",
    meaning: "`upgrade` refuses requests for a connection that bring no token.",
  }),
  allowedOrigins: setting("ALLOWED_ORIGINS", kind.origins, {
    default: "same",
    inDevelopment: "*",
    defaultText: "the request's own origin (development: `*`)",
    meaning:
      "The origins from which pages may connect. Name those of native shells and extensions, too (`capacitor://localhost`). It concerns browsers only.",
  }),
  guestAccess: optional("GUEST_ACCESS", kind.onOff, {
    defaultText: "`off` (development: `on` with `JWT_SECRET`)",
    meaning: "`POST /api/guest` gives a token to anybody, and the next token to a guest who brings an earlier one.",
  }),
  guestRooms: optional("GUEST_ROOMS", kind.roomRules, {
    defaultText: "every room",
    meaning: "The rooms that guests may enter. Without `dm~*` in it guests have no direct messages.",
  }),
  roomList: setting("ROOM_LIST", kind.onOff, {
    default: false,
    inDevelopment: true,
    meaning: "Whether members may list the rooms that their tokens open.",
  }),
};

const LIMITS = {
  messageRate: setting("MESSAGE_RATE", kind.number(0.01, 10_000), {
    default: 10,
    unit: "messages per second",
    meaning: "Posts of one user in one room.",
  }),
  messageBurst: setting("MESSAGE_BURST", kind.integer(1, 10_000), {
    default: 10,
    unit: "messages",
    meaning: "Posts that a user may send at once before `MESSAGE_RATE` holds.",
  }),
  guestRatePerIp: optional("GUEST_RATE_PER_IP", kind.number(0, 10_000), {
    unit: "messages per second",
    defaultText: "`MESSAGE_RATE` (development: `0`)",
    meaning:
      "Posts and edits in one room by all guests of one address together, `MESSAGE_BURST` at once; 0 is no limit.",
  }),
  maxContentLength: setting("MAX_CONTENT_LENGTH", kind.integer(1, 100_000), {
    default: 1000,
    unit: "characters",
    meaning: "The length of a message.",
  }),
  editWindowSeconds: setting("EDIT_WINDOW_SECONDS", kind.integer(0, EDIT_WINDOW_SECONDS_MAX), {
    default: 86_400,
    unit: "seconds",
    meaning: "Authors may edit a message for so long after posting it; 0 is never. Moderators may edit at any time.",
  }),
  maxPayloadBytes: setting("MAX_PAYLOAD", kind.integer(1024, PAYLOAD_BYTES_MAX), {
    default: 65_536,
    unit: "bytes",
    meaning: "The size of one received frame, and of a JSON body of the HTTP API.",
  }),
  maxMembers: setting("MAX_MEMBERS", kind.integer(1, MEMBERS_MAX), {
    default: 5000,
    unit: "sockets",
    meaning: "Sockets in one room.",
  }),
  maxConnectionsPerIp: setting("MAX_CONNECTIONS_PER_IP", kind.integer(0, MEMBERS_MAX), {
    default: 10,
    inDevelopment: 0,
    unit: "connections",
    meaning:
      "Connections of one address (IPv6: one /64) in one room, and 16 times as many of one IPv6 /48; 0 is no limit. Connections that have joined no room yet count in all rooms of an isolate together.",
  }),
  maxConnectionsPerUser: setting("MAX_CONNECTIONS_PER_USER", kind.integer(0, MEMBERS_MAX), {
    default: 20,
    inDevelopment: 0,
    unit: "connections",
    meaning: "Connections of one user in one room, from all addresses together; 0 is no limit.",
  }),
  connectRatePerIp: setting("CONNECT_RATE_PER_IP", kind.integer(0, 1_000_000), {
    default: 60,
    inDevelopment: 0,
    unit: "per minute",
    meaning: "Connections that one address opens, and as many tokens for guests, in each isolate; 0 is no limit.",
  }),
  apiRate: setting("API_RATE", kind.number(0.01, 100_000), {
    default: 50,
    unit: "calls per second",
    meaning: "Calls of the HTTP API by one user, in each isolate.",
  }),
  apiBurst: setting("API_BURST", kind.integer(1, 100_000), {
    default: 200,
    unit: "calls",
    meaning: "Calls that a user may make at once before `API_RATE` holds.",
  }),
};

const CONNECTIONS = {
  pingIntervalMs: setting("PING_INTERVAL_MS", kind.integer(100, TIMER_MS_MAX), {
    default: 45_000,
    unit: "ms",
    meaning: "The time from one heartbeat to the next.",
  }),
  pingTimeoutMs: setting("PING_TIMEOUT_MS", kind.integer(100, TIMER_MS_MAX), {
    default: 30_000,
    unit: "ms",
    meaning: "A connection that leaves a heartbeat unanswered for so long is closed.",
  }),
  connectTimeoutMs: setting("CONNECT_TIMEOUT_MS", kind.integer(100, TIMER_MS_MAX), {
    default: 10_000,
    unit: "ms",
    meaning: "A connection that joins no namespace within this time is closed.",
  }),
  recoveryWindowSeconds: setting("RECOVERY_WINDOW_SECONDS", kind.integer(0, 86_400), {
    default: 120,
    unit: "seconds",
    meaning: "A client may recover a broken connection for so long; 0 turns recovery off.",
  }),
  compression: setting("COMPRESSION", kind.onOff, {
    default: false,
    meaning:
      "Compresses frames (permessage-deflate), at some 200 KB of memory per connection. A deployment also removes `no_web_socket_compression` from wrangler.toml.",
  }),
};

const STORAGE = {
  flushWindowMs: setting("FLUSH_WINDOW_MS", kind.integer(0, 1000), {
    default: 50,
    unit: "ms",
    meaning: "A busy room commits once per window.",
  }),
  durability: setting("DURABILITY", kind.oneOf("strict", "relaxed"), {
    default: "strict",
    meaning: "`relaxed` lets a busy room show messages up to a second before it stores them.",
  }),
  historyDays: setting("HISTORY_DAYS", kind.number(0.01, 36_500), {
    default: 30,
    unit: "days",
    meaning: "A room keeps messages that are younger than this, and up to a tenth more.",
  }),
  historyMessages: setting("HISTORY_MESSAGES", kind.integer(10, 100_000_000), {
    default: 100_000,
    unit: "messages",
    meaning: "A room keeps so many messages, and up to a tenth more.",
  }),
  fileBytesMax: setting("FILE_BYTES_MAX", kind.integer(1, FILE_BYTES_MAX), {
    default: 10 * 1024 * 1024,
    unit: "bytes",
    meaning: "The size of one uploaded file.",
  }),
  fileTypes: setting("FILE_TYPES", kind.mediaTypes, {
    default: FILE_TYPES_DEFAULT,
    defaultText: "pictures, sound, films, text, PDF, office documents, archives",
    meaning: "The types of files that members may upload.",
  }),
};

const OPERATION = {
  lobbies: setting("LOBBIES", kind.integer(1, LOBBIES_MAX), {
    default: 1,
    unit: "objects",
    meaning: "The number of objects that share the list of rooms. A new number begins the list again.",
  }),
  relay: setting("RELAY", kind.oneOf("queue", "direct", "off"), {
    default: "queue",
    defaultText: "`queue` (`npm run serve`: `direct`)",
    meaning:
      "How linked rooms reach each other: through a queue, by direct calls, or not at all. See [relay.md](relay.md).",
  }),
  metricsToken: optional("METRICS_TOKEN", kind.secret(SECRET_BYTES_MIN), {
    meaning:
      "`GET /metrics` asks for this token. Without it everybody may read the metrics. See [operations.md](operations.md).",
  }),
  logLevel: setting("LOG_LEVEL", kind.oneOf(...LOG_LEVELS), {
    default: "info",
    meaning: "The server logs lines of this level and above.",
  }),
  logSampling: setting("LOG_SAMPLING", kind.number(0, 1), {
    default: 1,
    meaning: "The share of lines below `warn` that the server logs; 1 is all.",
  }),
  webhookUrl: optional("WEBHOOK_URL", kind.urlWithUser, {
    meaning: "The server POSTs events of all rooms to this address. See [webhooks.md](webhooks.md).",
  }),
  webhookSecret: optional("WEBHOOK_SECRET", kind.secret(SECRET_BYTES_MIN), { meaning: "Signs the webhooks." }),
};

/** Every setting, by the part of docs/settings.md that shows it. */
export const SECTIONS = {
  "Keys and tokens": KEYS,
  "Who may come in": ACCESS,
  Limits: LIMITS,
  Connections: CONNECTIONS,
  "Messages and files": STORAGE,
  Operation: OPERATION,
} as const;

export const DECLARED = { ...KEYS, ...ACCESS, ...LIMITS, ...CONNECTIONS, ...STORAGE, ...OPERATION };

/** What the variables of a deployment say, each by its own declaration. */
export type Declared = {
  readonly [Key in keyof typeof DECLARED]: (typeof DECLARED)[Key] extends Setting<infer Value> ? Value : never;
};
