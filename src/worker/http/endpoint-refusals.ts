// Refusals of the Socket.IO endpoint: Engine.IO's own form, and one JSON shape, which the HTTP API shares. `parley-rooms/socketio` has these alone.
import { ENDPOINT_STATUS, type TokenCode } from "../../protocol/failures.ts";
import type { Unauthenticated } from "../../protocol/identity.ts";
import { ENGINE_REFUSALS, type EngineRefusal } from "../../socketio/wire/engine-io.ts";

/** One field that was wrong: where it stands, `a.b` for a `b` within `a`, and how it was wrong. */
export interface Issue {
  readonly path: string;
  readonly message: string;
}

/** Further fields of a refusal. */
export interface Details {
  readonly issues?: readonly Issue[];
  readonly retryAfterMs?: number;
}

/** `{"error":{"code","message","issues"?,"retryAfterMs"?}}` (API-3). */
export function refuseAs(
  status: number,
  code: string,
  message: string,
  headers: Record<string, string> = {},
  details: Details = {},
): Response {
  return withCode(Response.json({ error: { code, message, ...details } }, { status, headers }), code);
}

export function refuseConnection(
  code: keyof typeof ENDPOINT_STATUS,
  message: string,
  headers?: Record<string, string>,
  details?: Details,
): Response {
  return refuseAs(ENDPOINT_STATUS[code], code, message, headers, details);
}

/** The header that says when a retry helps. */
export function retryAfter(ms: number): Record<string, string> {
  return { "Retry-After": String(Math.max(1, Math.ceil(ms / 1000))) };
}

/** The codes of refusals, for counters and the log, which do not read the bodies. */
const codes = new WeakMap<Response, string>();

export const codeOf = (response: Response): string | undefined => codes.get(response);

export function withCode(response: Response, code: string | undefined): Response {
  if (code !== undefined) codes.set(response, code);
  return response;
}

/**
 * 503 for errors that the platform marks, of a room that is overloaded or whose machine has just gone, and for those of an object of another
 * release (other-release.ts).
 */
export function refusePassing(error: unknown): Response | undefined {
  const { overloaded, retryable } = error as { overloaded?: unknown; retryable?: unknown };
  if (overloaded !== true && retryable !== true) return undefined;
  return refuseConnection("UNAVAILABLE", "The room cannot be reached right now; try again", { "Retry-After": "1" });
}

/** 401, which names the way to authenticate (RFC 6750). */
export function refuseUnauthenticated(code: TokenCode, message: string): Response {
  return refuseConnection(code, message, { "WWW-Authenticate": "Bearer" });
}

/** A token that was not accepted: 401, or 503 while it cannot be verified (TOK-5). */
export function refuseToken({ code, message, retryAfterMs = 0 }: Unauthenticated): Response {
  if (code === "UNAVAILABLE") return refuseConnection(code, message, retryAfter(retryAfterMs), { retryAfterMs });
  return refuseUnauthenticated(code, message);
}

export function refuseRoomName(): Response {
  const rule = "1 to 64 characters of A-Z a-z 0-9 _ . - ~, the first a letter or digit";
  return refuseConnection("BAD_ROOM", `Not a room name; it takes ${rule}`);
}

/** `{"code":0..5,"message"}`, as Engine.IO clients know it. */
export function refuseEngine(refusal: EngineRefusal, detail?: string): Response {
  const { code, message } = ENGINE_REFUSALS[refusal];
  const status = refusal === "forbidden" ? 403 : 400;
  return withCode(Response.json({ code, message: detail ? `${message}: ${detail}` : message }, { status }), refusal);
}
