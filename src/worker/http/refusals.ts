// Refusals of requests: one JSON shape, whose code decides the status, and Engine.IO's own form. Called by the HTTP API and by the Socket.IO
// endpoint.
import type * as z from "zod/mini";

import { HTTP_STATUS, type HttpCode, type TokenCode } from "../../protocol/failures.ts";
import type { Unauthenticated } from "../../protocol/identity.ts";
import { describeBinding, type BindingName } from "../../rpc/bindings.ts";
import { ENGINE_REFUSALS, type EngineRefusal } from "../../socketio/wire/engine-io.ts";
import { isOriginAllowed, type AllowedOrigins } from "./request-origin.ts";

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
export function refuseRequest(
  code: HttpCode,
  message: string,
  headers: Record<string, string> = {},
  details: Details = {},
): Response {
  const answer = Response.json({ error: { code, message, ...details } }, { status: HTTP_STATUS[code], headers });
  return withCode(answer, code);
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
  return refuseRequest("UNAVAILABLE", "The room cannot be reached right now; try again", { "Retry-After": "1" });
}

/** 401, which names the way to authenticate (RFC 6750). */
export function refuseUnauthenticated(code: TokenCode, message: string): Response {
  return refuseRequest(code, message, { "WWW-Authenticate": "Bearer" });
}

/** A token that was not accepted: 401, or 503 while it cannot be verified (TOK-5). */
export function refuseToken({ code, message, retryAfterMs = 0 }: Unauthenticated): Response {
  if (code === "UNAVAILABLE") return refuseForNow(code, message, retryAfterMs);
  return refuseUnauthenticated(code, message);
}

export function refuseRoomName(): Response {
  const rule = "1 to 64 characters of A-Z a-z 0-9 _ . - ~, the first a letter or digit";
  return refuseRequest("BAD_ROOM", `Not a room name; it takes ${rule}`);
}

/** `{"code":0..5,"message"}`, as Engine.IO clients know it. */
export function refuseEngine(refusal: EngineRefusal, detail?: string): Response {
  const { code, message } = ENGINE_REFUSALS[refusal];
  const status = refusal === "forbidden" ? 403 : 400;
  return withCode(Response.json({ code, message: detail ? `${message}: ${detail}` : message }, { status }), refusal);
}

/** Says when a retry helps, in the body and in `Retry-After`. */
export function refuseForNow(code: HttpCode, message: string, retryAfterMs: number): Response {
  return refuseRequest(code, message, retryAfter(retryAfterMs), { retryAfterMs });
}

/** 403 of a page that may not connect. To be asked before anything is counted or woken: browsers send such requests for any page. */
export function refuseForeignPage(allowed: AllowedOrigins, request: Request): Response | undefined {
  if (isOriginAllowed(allowed, request)) return undefined;
  return refuseRequest("FORBIDDEN", "This origin is not allowed");
}

/** 503 of a deployment that lacks a binding. */
export function refuseWithout(binding: BindingName): Response {
  const message = `This needs a binding that the deployment does not have: ${describeBinding(binding)}`;
  return refuseRequest("MISCONFIGURED", message);
}

/** 405 (API-3). HEAD is answered wherever GET is. */
export function refuseMethod(methods: readonly string[]): Response {
  const allowed = [...methods, ...(methods.includes("GET") ? ["HEAD"] : []), "OPTIONS"].join(", ");
  return refuseRequest("METHOD_NOT_ALLOWED", `This address takes ${allowed}`, { Allow: allowed });
}

/** 400 that names every field which was wrong. */
export function refuseIssues(issues: readonly Issue[]): Response {
  const message = issues.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`)).join("; ");
  return refuseRequest("INVALID_PAYLOAD", message, {}, { issues });
}

export function issuesOf({ issues }: z.core.$ZodError): Issue[] {
  return issues.map(({ path, message }) => ({ path: path.join("."), message }));
}
