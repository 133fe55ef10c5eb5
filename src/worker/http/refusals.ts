// The refusals of the HTTP API, beside those of the Socket.IO endpoint (endpoint-refusals.ts), in the same JSON shape. The code decides the status.
import type * as z from "zod/mini";

import { HTTP_STATUS, type HttpCode } from "../../protocol/failures.ts";
import { describeBinding, type BindingName } from "../../rpc/bindings.ts";
import { refuseAs, retryAfter, type Details, type Issue } from "./endpoint-refusals.ts";
import { isOriginAllowed, type AllowedOrigins } from "./request-origin.ts";

/** `{"error":{"code","message","issues"?,"retryAfterMs"?}}` (API-3). */
export function refuseRequest(
  code: HttpCode,
  message: string,
  headers: Record<string, string> = {},
  details: Details = {},
): Response {
  return refuseAs(HTTP_STATUS[code], code, message, headers, details);
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
