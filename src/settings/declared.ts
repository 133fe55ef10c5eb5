// Declares every setting once: its variable, kind with bounds, and default. settings.ts reads variables by it, and
// scripts/settings-page.ts writes docs/settings.md from it and from the texts in scripts/setting-texts.ts.
import { CLAIM_NAMES } from "./tokens/claims.ts";
import * as kinds from "./kinds.ts";
import { LOG_LEVELS } from "./log.ts";

/** @template Value of the setting; includes `undefined` where the setting may be absent. */
export interface Setting<Value = unknown> {
  /** The variable. */
  readonly name: string;
  readonly kind: kinds.Kind<Exclude<Value, undefined>>;
  readonly default: Value;
  /** Where development has another default. */
  readonly inDevelopment?: Value;
}

const setting = <Value>(
  name: string,
  kind: kinds.Kind<Value>,
  defaults: { readonly default: NoInfer<Value>; readonly inDevelopment?: NoInfer<Value> },
): Setting<Value> => ({ name, kind, ...defaults }) as Setting<Value>;

const optional = <Value>(name: string, kind: kinds.Kind<Value>): Setting<Value | undefined> =>
  ({ name, kind, default: undefined }) as Setting<Value | undefined>;

/** Timers of JavaScript clients overflow at 2^31 - 1 ms; a client would time out at once. */
export const TIMER_MS_MAX = 2 ** 31 - 1;

/** The limit of the platform for one received WebSocket message. */
const PAYLOAD_BYTES_MAX = 32 * 1024 * 1024;

/** WebSockets that the platform lets one Durable Object hold. */
const WEBSOCKETS_PER_OBJECT_MAX = 32_768;
/** Four digits: session ids have no more. */
const SHARDS_MAX = 1000;

/** Reading one page of the list of rooms asks every lobby. */
const LOBBIES_MAX = 64;

/** A hundred years. */
const HISTORY_DAYS_MAX = 36_525;

/** Messages can be edited for as long as they are kept. */
const EDIT_WINDOW_SECONDS_MAX = HISTORY_DAYS_MAX * 86_400;

/** The platform takes a request of 100 MB on every plan. */
const REQUEST_BYTES_MAX = 100_000_000;

/** RFC 7518, section 3.2: a key must be at least as long as the hash, 32 bytes. */
const JWT_SECRET_BYTES_MIN = 32;
const SECRET_BYTES_MIN = 16;

/** Of the name of a claim, or the path to it. */
const claim = kinds.textUpTo(256);

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
  jwtSecret: optional("JWT_SECRET", kinds.secret(JWT_SECRET_BYTES_MIN)),
  jwtSecretPrevious: optional("JWT_SECRET_PREVIOUS", kinds.secret(JWT_SECRET_BYTES_MIN)),
  jwtPublicKey: optional("JWT_PUBLIC_KEY", kinds.publicKey),
  jwtJwksUrl: optional("JWT_JWKS_URL", kinds.url),
  jwtIssuer: optional("JWT_ISSUER", kinds.text),
  jwtAudience: optional("JWT_AUDIENCE", kinds.text),
  claimUser: setting("CLAIM_USER", claim, { default: CLAIM_NAMES.user }),
  claimName: setting("CLAIM_NAME", claim, { default: CLAIM_NAMES.name }),
  claimRole: setting("CLAIM_ROLE", claim, { default: CLAIM_NAMES.role }),
  claimRooms: setting("CLAIM_ROOMS", claim, { default: CLAIM_NAMES.rooms }),
  allowUnexpiringTokens: setting("ALLOW_UNEXPIRING_TOKENS", kinds.onOff, { default: false }),
};

const ACCESS = {
  transports: setting("TRANSPORTS", kinds.transports, { default: ["websocket", "polling"] }),
  authAt: setting("AUTH_AT", kinds.oneOf("connect", "upgrade"), { default: "connect" }),
  allowedOrigins: setting("ALLOWED_ORIGINS", kinds.origins, { default: "same", inDevelopment: "*" }),
  guestAccess: optional("GUEST_ACCESS", kinds.onOff),
  guestRooms: optional("GUEST_ROOMS", kinds.roomRules),
  signInUrl: optional("SIGN_IN_URL", kinds.signInUrl),
  roomList: setting("ROOM_LIST", kinds.onOff, { default: false, inDevelopment: true }),
};

const LIMITS = {
  messageRate: setting("MESSAGE_RATE", kinds.number(0.01, 10_000), { default: 10 }),
  messageBurst: setting("MESSAGE_BURST", kinds.integer(1, 10_000), { default: 10 }),
  guestRatePerIp: optional("GUEST_RATE_PER_IP", kinds.number(0, 10_000)),
  maxContentLength: setting("MAX_CONTENT_LENGTH", kinds.integer(1, 100_000), { default: 1000 }),
  editWindowSeconds: setting("EDIT_WINDOW_SECONDS", kinds.integer(0, EDIT_WINDOW_SECONDS_MAX), { default: 86_400 }),
  maxPayloadBytes: setting("MAX_PAYLOAD", kinds.integer(1024, PAYLOAD_BYTES_MAX), { default: 65_536 }),
  maxMembers: setting("MAX_MEMBERS", kinds.integer(1, WEBSOCKETS_PER_OBJECT_MAX), { default: 5000 }),
  crowdMembers: setting("CROWD_MEMBERS", kinds.integer(0, 1_000_000), { default: 200 }),
  crowdShownRate: setting("CROWD_SHOWN_RATE", kinds.integer(0, 10_000), { default: 0 }),
  maxShards: setting("MAX_SHARDS", kinds.integer(0, SHARDS_MAX), { default: 64 }),
  shardFanOut: setting("SHARD_FAN_OUT", kinds.integer(1, SHARDS_MAX), { default: 64 }),
  maxConnectionsPerIp: setting("MAX_CONNECTIONS_PER_IP", kinds.integer(0, WEBSOCKETS_PER_OBJECT_MAX), {
    default: 10,
    inDevelopment: 0,
  }),
  maxConnectionsPerUser: setting("MAX_CONNECTIONS_PER_USER", kinds.integer(0, WEBSOCKETS_PER_OBJECT_MAX), {
    default: 20,
    inDevelopment: 0,
  }),
  maxRoomsPerUser: setting("MAX_ROOMS_PER_USER", kinds.integer(0, 1_000_000), { default: 50, inDevelopment: 0 }),
  newRoomsPerUser: setting("NEW_ROOMS_PER_USER", kinds.integer(0, 1_000_000), { default: 100, inDevelopment: 0 }),
  connectRatePerIp: setting("CONNECT_RATE_PER_IP", kinds.integer(0, 1_000_000), { default: 60, inDevelopment: 0 }),
  apiRate: setting("API_RATE", kinds.number(0.01, 100_000), { default: 50 }),
  apiBurst: setting("API_BURST", kinds.integer(1, 100_000), { default: 200 }),
};

const CONNECTIONS = {
  pingIntervalMs: setting("PING_INTERVAL_MS", kinds.integer(100, TIMER_MS_MAX), { default: 45_000 }),
  pingTimeoutMs: setting("PING_TIMEOUT_MS", kinds.integer(100, TIMER_MS_MAX), { default: 30_000 }),
  connectTimeoutMs: setting("CONNECT_TIMEOUT_MS", kinds.integer(100, TIMER_MS_MAX), { default: 10_000 }),
  recoveryWindowSeconds: setting("RECOVERY_WINDOW_SECONDS", kinds.integer(0, 86_400), { default: 120 }),
  compression: setting("COMPRESSION", kinds.onOff, { default: false }),
};

const STORAGE = {
  flushWindowMs: setting("FLUSH_WINDOW_MS", kinds.integer(0, 1000), { default: 50 }),
  flushBurst: setting("FLUSH_BURST", kinds.integer(1, 64), { default: 8 }),
  durability: setting("DURABILITY", kinds.oneOf("strict", "relaxed"), { default: "strict" }),
  historyDays: setting("HISTORY_DAYS", kinds.number(0.01, HISTORY_DAYS_MAX), { default: 30 }),
  historyMessages: setting("HISTORY_MESSAGES", kinds.integer(10, 100_000_000), { default: 100_000 }),
  fileBytesMax: setting("FILE_BYTES_MAX", kinds.integer(1, REQUEST_BYTES_MAX), { default: 10 * 1024 * 1024 }),
  uploadBytesPerUserDay: setting("UPLOAD_BYTES_PER_USER_DAY", kinds.integer(0, 1e15), { default: 1024 ** 3 }),
  fileTypes: setting("FILE_TYPES", kinds.mediaTypes, { default: FILE_TYPES_DEFAULT }),
};

const OPERATION = {
  lobbies: setting("LOBBIES", kinds.integer(1, LOBBIES_MAX), { default: 1 }),
  relay: setting("RELAY", kinds.oneOf("queue", "direct", "off"), { default: "queue" }),
  metricsToken: optional("METRICS_TOKEN", kinds.secret(SECRET_BYTES_MIN)),
  linkCards: setting("LINK_CARDS", kinds.onOff, { default: true, inDevelopment: false }),
  logLevel: setting("LOG_LEVEL", kinds.oneOf(...LOG_LEVELS), { default: "info" }),
  logSampling: setting("LOG_SAMPLING", kinds.number(0, 1), { default: 1 }),
  webhookUrl: optional("WEBHOOK_URL", kinds.urlWithUser),
  webhookSecret: optional("WEBHOOK_SECRET", kinds.secret(SECRET_BYTES_MIN)),
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

/** The values of a deployment's variables, each by its own declaration. */
export type Declared = {
  readonly [Key in keyof typeof DECLARED]: (typeof DECLARED)[Key] extends Setting<infer Value> ? Value : never;
};
