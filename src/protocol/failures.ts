// The table of failures: each code, its HTTP status, where it appears, and whether a retry helps. Read by rooms, the HTTP API and its
// description, and the client. The pages that explain the codes: src/chat/SPEC.md, docs/http-api.md, docs/client.md.

/** Answers of a room to an event, each with the status that it has over HTTP (API-2). */
export const ANSWERS = {
  INVALID_PAYLOAD: 400,
  TOO_LONG: 413,
  RATE_LIMITED: 429,
  MUTED: 403,
  SLOW_MODE: 429,
  ROOM_READ_ONLY: 403,
  FORBIDDEN: 403,
  REJECTED: 422,
  NOT_FOUND: 404,
  UNKNOWN_EVENT: 404,
  UNAUTHORIZED: 401,
  TOKEN_EXPIRED: 401,
  UNAVAILABLE: 503,
  INTERNAL: 500,
} as const;

/** All codes of refusals over HTTP, with their status. */
export const HTTP_STATUS = {
  ...ANSWERS,
  BAD_ROOM: 400,
  FORBIDDEN_ROOM: 403,
  UPGRADE_REQUIRED: 426,
  TOO_MANY_CONNECTIONS: 429,
  METHOD_NOT_ALLOWED: 405,
  TIMED_OUT: 408,
  LENGTH_REQUIRED: 411,
  UNSUPPORTED_MEDIA_TYPE: 415,
  RANGE_NOT_SATISFIABLE: 416,
  MISCONFIGURED: 503,
} as const;

/** Codes that no call of the HTTP API gives, but the Socket.IO endpoint. */
export const NOT_IN_API: readonly string[] = ["UPGRADE_REQUIRED", "TOO_MANY_CONNECTIONS"];

/** Refusals of a CONNECT: `data.code` of the CONNECT_ERROR. */
export const REFUSALS = [
  "UNAUTHORIZED",
  "TOKEN_EXPIRED",
  "FORBIDDEN",
  "FORBIDDEN_ROOM",
  "BANNED",
  "ROOM_FULL",
  "RATE_LIMITED",
  "TOO_MANY_CONNECTIONS",
  "UNAVAILABLE",
  "INTERNAL",
] as const;

/** Notices after which the room ends the connection. */
export const ENDINGS = [
  "TOKEN_EXPIRED",
  "KICKED",
  "BANNED",
  "RATE_LIMITED",
  "TOO_MANY_CONNECTIONS",
  "SERVER_SHUTDOWN",
  "ROOM_DELETED",
] as const;

/** A retry helps after `retryAfterMs`, or after a while where there is none. A mute lasts too long to wait for. */
export const RETRY_AFTER: readonly string[] = [
  "RATE_LIMITED",
  "SLOW_MODE",
  "INTERNAL",
  "UNAVAILABLE",
  "ROOM_FULL",
  "TOO_MANY_CONNECTIONS",
  "SERVER_SHUTDOWN",
  "TIMED_OUT",
  // The client's own: nothing came back.
  "NO_ANSWER",
];

/** A retry helps with another token. */
export type TokenCode = "UNAUTHORIZED" | "TOKEN_EXPIRED";
export const isAboutToken = (code: unknown): code is TokenCode => code === "UNAUTHORIZED" || code === "TOKEN_EXPIRED";

/** Decisions of people: no retry helps, even with a `retryAfterMs`. */
export const RETRY_NEVER: readonly string[] = ["BANNED", "KICKED", "FORBIDDEN_ROOM"];

/** Why an event was not carried out. */
export type AnswerCode = keyof typeof ANSWERS;
/** Why a CONNECT was refused. */
export type RefusalCode = (typeof REFUSALS)[number];
export type NoticeCode = "TOKEN_EXPIRING" | (typeof ENDINGS)[number];
/** Why a request was refused. */
export type HttpCode = keyof typeof HTTP_STATUS;
