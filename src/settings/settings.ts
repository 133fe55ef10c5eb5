// The settings of a deployment, read from its variables and secrets. Pure: strings in, values or a list of
// everything that is wrong out. The Worker, the objects and `npm start` all read them here.
import { z } from "zod";

import { isRoomName } from "../protocol/room-name.ts";
import { CLAIM_NAMES, ROOMS_MAX, type ClaimNames } from "./tokens/claims.ts";
import { LOG_LEVELS, type LogSettings } from "./log.ts";
import { isPublicKey } from "./public-key-form.ts";

z.config({ jitless: true });

/** Anything that holds settings by name: a Worker's `env`, or `process.env`. */
export type Variables = Readonly<Record<string, unknown>>;

export interface Settings extends LogSettings {
  readonly environment: "development" | "production";
  readonly transports: ReadonlyArray<"websocket" | "polling">;
  readonly authAt: "connect" | "upgrade";
  readonly allowUnexpiringTokens: boolean;
  readonly guestAccess: boolean;
  /** What guests' tokens open, as their `rooms`; absent: every room. */
  readonly guestRooms?: readonly string[];
  /** Messages per second into one room of all guests of one address; 0 is no limit. */
  readonly guestRatePerIp: number;
  /** Whether members may list the rooms that their tokens open. */
  readonly roomList: boolean;
  /** How many objects share the list of rooms. */
  readonly lobbies: number;
  /** Origins that browsers may come from; `same` is the origin of the request itself. */
  readonly allowedOrigins: "*" | "same" | readonly string[];
  readonly jwt: {
    readonly secret?: string;
    /** While the secret is being rotated: tokens that were signed with the one before it are still believed. */
    readonly secretPrevious?: string;
    readonly publicKey?: string;
    readonly jwksUrl?: string;
    readonly issuer?: string;
    readonly audience?: string;
  };
  /** Where tokens say who their bearer is (TOK-6). */
  readonly claims: ClaimNames;
  /** Messages per second and user. */
  readonly messageRate: number;
  readonly messageBurst: number;
  readonly maxContentLength: number;
  /** How long after it was posted its author may edit a message; 0 is never. */
  readonly editWindowSeconds: number;
  readonly maxPayloadBytes: number;
  /** Connections of one address to one room; 0 is no limit. */
  readonly maxConnectionsPerIp: number;
  /** Connections of one user to one room; 0 is no limit. */
  readonly maxConnectionsPerUser: number;
  /** Upgrades of one address per minute; 0 is no limit. */
  readonly connectRatePerIp: number;
  /** Calls of the HTTP API per second, by the user of the token; each isolate counts for itself. */
  readonly apiRate: number;
  readonly apiBurst: number;
  readonly maxMembers: number;
  readonly pingIntervalMs: number;
  readonly pingTimeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly flushWindowMs: number;
  /** Whether a busy room stores messages before it shows them. */
  readonly durability: "strict" | "relaxed";
  /** What a room keeps of its history, at least: so many days, and so many messages. */
  readonly historyDays: number;
  readonly historyMessages: number;
  /** Of one file that is uploaded. */
  readonly fileBytesMax: number;
  /** Media types that are taken; `audio/*` for all of a kind. */
  readonly fileTypes: readonly string[];
  /** How long after a broken connection a client may recover it; 0 turns recovery off. */
  readonly recoveryWindowSeconds: number;
  /** Whether frames are compressed (permessage-deflate); the runtime's compatibility flags have to say so, too. */
  readonly compression: boolean;
  /** How messages get from room to room: by way of a queue, by a call, or not at all. */
  readonly relay: "queue" | "direct" | "off";
  /** Who may read the metrics; absent: everybody, but no names of rooms (MET-4). */
  readonly metricsToken?: string;
  /** The operator's own server, which is told what happens in the rooms; absent: nobody is. */
  readonly webhook?: Webhook;
}

export interface Webhook {
  readonly url: string;
  /** Signs what is sent there. */
  readonly secret: string;
}

export type SettingsResult =
  | { readonly ok: true; readonly settings: Settings }
  /** One line per setting that is wrong: `NAME: what is wrong`. */
  | { readonly ok: false; readonly problems: readonly string[] };

/** Timers of JavaScript clients overflow at 2^31 - 1 ms; a client would time out at once. */
const TIMER_MS_MAX = 2 ** 31 - 1;

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

/** What people send each other, and what no browser runs. */
const FILE_TYPES_DEFAULT = [
  ...["png", "jpeg", "gif", "webp", "avif"].map((kind) => `image/${kind}`),
  "audio/*",
  "video/*",
  ...["plain", "csv", "markdown"].map((kind) => `text/${kind}`),
  ...["pdf", "json", "zip", "gzip", "rtf", "msword", "vnd.ms-excel", "vnd.ms-powerpoint"].map(
    (kind) => `application/${kind}`,
  ),
  ...["wordprocessingml.document", "spreadsheetml.sheet", "presentationml.presentation"].map(
    (kind) => `application/vnd.openxmlformats-officedocument.${kind}`,
  ),
  ...["text", "spreadsheet", "presentation"].map((kind) => `application/vnd.oasis.opendocument.${kind}`),
];

const number = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d+(\.\d+)?$/, { error: "must be a number", abort: true })
    .transform(Number)
    .pipe(z.number().min(min, `must be at least ${min}`).max(max, `must be at most ${max}`));

const integer = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d+$/, { error: "must be a whole number", abort: true })
    .transform(Number)
    .pipe(z.number().min(min, `must be at least ${min}`).max(max, `must be at most ${max}`));

const oneOf = <Choice extends string>(...choices: [Choice, ...Choice[]]) =>
  z.enum(choices, { error: `must be ${choices.join(" or ")}` });

const onOff = oneOf("on", "off").transform((value) => value === "on");

const transports = z
  .string()
  .transform((list) => list.split(",").map((name) => name.trim()))
  .pipe(z.array(z.enum(["websocket", "polling"]), { error: "must be websocket, polling or both, comma-separated" }));

/** Names of rooms, or prefixes ending in `*`. */
const roomRules = z
  .string()
  .transform((list) => list.split(",").map((rule) => rule.trim()))
  .refine((rules) => rules.length <= ROOMS_MAX && rules.every((rule) => isRoomName(rule.replace(/\*$/, "x"))), {
    error: `must be a comma-separated list of at most ${ROOMS_MAX} room names, or prefixes ending in *`,
  });

const fileTypes = z
  .string()
  .transform((list) => list.split(",").map((type) => type.trim().toLowerCase()))
  .pipe(
    z.array(
      z.string().regex(/^(\*\/\*|[a-z0-9.+_-]+\/(\*|[a-z0-9.+_-]+))$/, {
        error: "must be a comma-separated list of media types such as image/png or audio/*",
      }),
    ),
  );

const url = z.url({ protocol: /^https?$/, error: "must be an http or https URL" });

/** Whether user and password can be read out of it. */
function isDecodable(address: string): boolean {
  const { username, password } = URL.canParse(address) ? new URL(address) : { username: "", password: "" };
  try {
    return [username, password].every((text) => decodeURIComponent(text) !== undefined);
  } catch {
    return false;
  }
}

const publicKey = z.string().refine(isPublicKey, {
  error: "must be a public key: a PEM (-----BEGIN PUBLIC KEY-----) or a JWK, of kind RSA, P-256 or Ed25519",
});

const origins = z
  .string()
  .transform((list) => list.split(",").map((origin) => origin.trim()))
  .refine((list) => list.every((origin) => origin === "*" || isOrigin(origin)), {
    error: "must be * or a comma-separated list of origins such as https://example.com or capacitor://localhost",
  })
  .transform((list): Settings["allowedOrigins"] => (list.includes("*") ? "*" : list));

/** As browsers write it; also that of a page in a native shell or an extension, whose scheme is the shell's own. */
function isOrigin(text: string): boolean {
  if (!/^https?:/.test(text)) return SHELL_ORIGIN.test(text);
  return URL.canParse(text) && new URL(text).origin === text;
}

/** `capacitor://localhost`, `tauri://localhost`, `chrome-extension://…`. */
const SHELL_ORIGIN = /^(?!(?:wss?|ftp|file|blob|data|javascript):)[a-z][a-z0-9+.-]*:\/\/[a-z0-9._~-]+(?::\d+)?$/;

/** A secret of so many bytes, where strangers could try out shorter ones. */
const secret = (bytesMin: number, isDevelopment: boolean) =>
  z.string().refine((text) => isDevelopment || new TextEncoder().encode(text).length >= bytesMin, {
    error: `must have at least ${bytesMin} bytes in production, chosen by chance`,
  });

/** RFC 7518, section 3.2: as long as what HS256 makes of it. */
const JWT_SECRET_BYTES_MIN = 32;
const SECRET_BYTES_MIN = 16;

/** Of the name of a claim, or the path to it. */
const CLAIM_LENGTH_MAX = 256;
const claim = z.string().max(CLAIM_LENGTH_MAX, `at most ${CLAIM_LENGTH_MAX} characters`);

function schemaFor(environment: Settings["environment"]) {
  const isDevelopment = environment === "development";
  return z
    .object({
      TRANSPORTS: transports.default(["websocket", "polling"]),
      AUTH_AT: oneOf("connect", "upgrade").default("connect"),
      ALLOW_UNEXPIRING_TOKENS: onOff.default(false),
      GUEST_ACCESS: onOff.optional(),
      GUEST_ROOMS: roomRules.optional(),
      GUEST_RATE_PER_IP: number(0, 10_000).optional(),
      ROOM_LIST: onOff.default(isDevelopment),
      LOBBIES: integer(1, LOBBIES_MAX).default(1),
      ALLOWED_ORIGINS: origins.default(isDevelopment ? "*" : "same"),
      JWT_SECRET: secret(JWT_SECRET_BYTES_MIN, isDevelopment).optional(),
      JWT_SECRET_PREVIOUS: secret(JWT_SECRET_BYTES_MIN, isDevelopment).optional(),
      JWT_PUBLIC_KEY: publicKey.optional(),
      JWT_JWKS_URL: url.optional(),
      JWT_ISSUER: z.string().optional(),
      JWT_AUDIENCE: z.string().optional(),
      CLAIM_USER: claim.default(CLAIM_NAMES.user),
      CLAIM_NAME: claim.default(CLAIM_NAMES.name),
      CLAIM_ROLE: claim.default(CLAIM_NAMES.role),
      CLAIM_ROOMS: claim.default(CLAIM_NAMES.rooms),
      MESSAGE_RATE: number(0.01, 10_000).default(10),
      MESSAGE_BURST: integer(1, 10_000).default(10),
      MAX_CONTENT_LENGTH: integer(1, 100_000).default(1000),
      EDIT_WINDOW_SECONDS: integer(0, EDIT_WINDOW_SECONDS_MAX).default(86_400),
      MAX_PAYLOAD: integer(1024, PAYLOAD_BYTES_MAX).default(65_536),
      MAX_CONNECTIONS_PER_IP: integer(0, MEMBERS_MAX).default(isDevelopment ? 0 : 10),
      MAX_CONNECTIONS_PER_USER: integer(0, MEMBERS_MAX).default(isDevelopment ? 0 : 20),
      CONNECT_RATE_PER_IP: integer(0, 1_000_000).default(isDevelopment ? 0 : 60),
      API_RATE: number(0.01, 100_000).default(50),
      API_BURST: integer(1, 100_000).default(200),
      MAX_MEMBERS: integer(1, MEMBERS_MAX).default(5000),
      PING_INTERVAL_MS: integer(100, TIMER_MS_MAX).default(45_000),
      PING_TIMEOUT_MS: integer(100, TIMER_MS_MAX).default(30_000),
      CONNECT_TIMEOUT_MS: integer(100, TIMER_MS_MAX).default(10_000),
      FLUSH_WINDOW_MS: integer(0, 1000).default(50),
      DURABILITY: oneOf("strict", "relaxed").default("strict"),
      HISTORY_DAYS: number(0.01, 36_500).default(30),
      HISTORY_MESSAGES: integer(10, 100_000_000).default(100_000),
      FILE_BYTES_MAX: integer(1, FILE_BYTES_MAX).default(10 * 1024 * 1024),
      FILE_TYPES: fileTypes.default(FILE_TYPES_DEFAULT),
      RECOVERY_WINDOW_SECONDS: integer(0, 86_400).default(120),
      COMPRESSION: onOff.default(false),
      RELAY: oneOf("queue", "direct", "off").default("queue"),
      METRICS_TOKEN: secret(SECRET_BYTES_MIN, isDevelopment).optional(),
      LOG_LEVEL: oneOf(...LOG_LEVELS).default("info"),
      LOG_SAMPLING: number(0, 1).default(1),
      WEBHOOK_URL: url
        .refine(isDecodable, { error: "has a % in its user or password that begins no escape: write %25" })
        .optional(),
      WEBHOOK_SECRET: secret(SECRET_BYTES_MIN, isDevelopment).optional(),
    })
    .refine(({ PING_INTERVAL_MS, PING_TIMEOUT_MS }) => PING_INTERVAL_MS + PING_TIMEOUT_MS <= TIMER_MS_MAX, {
      path: ["PING_INTERVAL_MS"],
      error: "plus PING_TIMEOUT_MS must stay below 2^31 (timers of clients overflow there)",
    })
    .refine(({ JWT_SECRET, JWT_PUBLIC_KEY, JWT_JWKS_URL }) => JWT_SECRET || JWT_PUBLIC_KEY || JWT_JWKS_URL, {
      path: ["JWT_SECRET"],
      error: "is missing, and so are JWT_PUBLIC_KEY and JWT_JWKS_URL: no token can be verified",
    })
    .refine(({ JWT_PUBLIC_KEY, JWT_JWKS_URL }) => !(JWT_PUBLIC_KEY && JWT_JWKS_URL), {
      path: ["JWT_PUBLIC_KEY"],
      error: "and JWT_JWKS_URL exclude each other: a token would not say which of them to ask",
    })
    .refine(({ JWT_SECRET, JWT_SECRET_PREVIOUS }) => JWT_SECRET || !JWT_SECRET_PREVIOUS, {
      path: ["JWT_SECRET_PREVIOUS"],
      error: "is set without JWT_SECRET, which it was before",
    })
    .refine(({ GUEST_ACCESS, JWT_SECRET }) => !GUEST_ACCESS || JWT_SECRET, {
      path: ["GUEST_ACCESS"],
      error: "on needs JWT_SECRET, which signs the tokens of guests",
    })
    .refine(({ WEBHOOK_URL, WEBHOOK_SECRET }) => !WEBHOOK_URL || WEBHOOK_SECRET, {
      path: ["WEBHOOK_SECRET"],
      error: "is missing: WEBHOOK_URL needs it, to sign what is sent there",
    });
}

/** Names of all settings that this deployment reads, `ENVIRONMENT` among them. */
export const SETTING_NAMES: readonly string[] = ["ENVIRONMENT", ...Object.keys(schemaFor("production").shape)];

let last: { readonly values: readonly unknown[]; readonly result: SettingsResult } | undefined;

/** The settings of a deployment, read again only where one has changed: that costs more than all else that a room does when it wakes. */
export function settingsOf(env: Variables): SettingsResult {
  const values = SETTING_NAMES.map((name) => env[name]);
  const isSame = last?.values.every((value, at) => value === values[at]) ?? false;
  if (!last || !isSame) last = { values, result: readSettings(env) };
  return last.result;
}

/** An empty value counts as none, as it does where a variable cannot be unset. */
export function readSettings(variables: Variables): SettingsResult {
  const given = Object.fromEntries(
    SETTING_NAMES.map((name) => [name, variables[name]] as const).filter(
      ([, value]) => value !== undefined && value !== "",
    ),
  );
  // Whatever is not plainly development gets the rules of production.
  const environment = given["ENVIRONMENT"] === "development" ? "development" : "production";
  const parsed = schemaFor(environment).safeParse(given);
  if (!parsed.success) {
    return { ok: false, problems: parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`) };
  }
  const read = parsed.data;
  return {
    ok: true,
    settings: {
      environment,
      transports: read.TRANSPORTS,
      authAt: read.AUTH_AT,
      allowUnexpiringTokens: read.ALLOW_UNEXPIRING_TOKENS,
      guestAccess: read.GUEST_ACCESS ?? (environment === "development" && read.JWT_SECRET !== undefined),
      ...(read.GUEST_ROOMS && { guestRooms: read.GUEST_ROOMS }),
      guestRatePerIp: read.GUEST_RATE_PER_IP ?? (environment === "development" ? 0 : read.MESSAGE_RATE),
      roomList: read.ROOM_LIST,
      lobbies: read.LOBBIES,
      allowedOrigins: read.ALLOWED_ORIGINS,
      jwt: {
        ...(read.JWT_SECRET && { secret: read.JWT_SECRET }),
        ...(read.JWT_SECRET_PREVIOUS && { secretPrevious: read.JWT_SECRET_PREVIOUS }),
        ...(read.JWT_PUBLIC_KEY && { publicKey: read.JWT_PUBLIC_KEY }),
        ...(read.JWT_JWKS_URL && { jwksUrl: read.JWT_JWKS_URL }),
        ...(read.JWT_ISSUER && { issuer: read.JWT_ISSUER }),
        ...(read.JWT_AUDIENCE && { audience: read.JWT_AUDIENCE }),
      },
      claims: { user: read.CLAIM_USER, name: read.CLAIM_NAME, role: read.CLAIM_ROLE, rooms: read.CLAIM_ROOMS },
      messageRate: read.MESSAGE_RATE,
      messageBurst: read.MESSAGE_BURST,
      maxContentLength: read.MAX_CONTENT_LENGTH,
      editWindowSeconds: read.EDIT_WINDOW_SECONDS,
      maxPayloadBytes: read.MAX_PAYLOAD,
      maxConnectionsPerIp: read.MAX_CONNECTIONS_PER_IP,
      maxConnectionsPerUser: read.MAX_CONNECTIONS_PER_USER,
      connectRatePerIp: read.CONNECT_RATE_PER_IP,
      apiRate: read.API_RATE,
      apiBurst: read.API_BURST,
      maxMembers: read.MAX_MEMBERS,
      pingIntervalMs: read.PING_INTERVAL_MS,
      pingTimeoutMs: read.PING_TIMEOUT_MS,
      connectTimeoutMs: read.CONNECT_TIMEOUT_MS,
      flushWindowMs: read.FLUSH_WINDOW_MS,
      durability: read.DURABILITY,
      historyDays: read.HISTORY_DAYS,
      historyMessages: read.HISTORY_MESSAGES,
      fileBytesMax: read.FILE_BYTES_MAX,
      fileTypes: read.FILE_TYPES,
      recoveryWindowSeconds: read.RECOVERY_WINDOW_SECONDS,
      compression: read.COMPRESSION,
      relay: read.RELAY,
      logLevel: read.LOG_LEVEL,
      logSampling: read.LOG_SAMPLING,
      ...(read.METRICS_TOKEN && { metricsToken: read.METRICS_TOKEN }),
      ...(read.WEBHOOK_URL &&
        read.WEBHOOK_SECRET && { webhook: { url: read.WEBHOOK_URL, secret: read.WEBHOOK_SECRET } }),
    },
  };
}
