// Counts the Worker's answers by route and status, and logs refused connections. Called by app.ts.
import type { Context } from "hono";

import { writeLog } from "../../settings/log.ts";
import type { App } from "../deployment.ts";
import { codeOf } from "./refusals.ts";
import type { Later } from "../metrics/worker-meter.ts";

/** The route of requests that no route has taken. */
const ROUTE_OTHER = "other";
const ROUTE_CONNECT = "socket.io";
/** Not counted: a deployment that only gets scrapes has nothing to send. */
const UNCOUNTED = new Set(["/metrics", "/health"]);

/** Once an answer is there; of its headers, which may be immutable, nothing is touched. */
export function countAnswer(c: Context<App>): void {
  if (UNCOUNTED.has(c.req.path)) return;
  const { meter } = c.var.deployment;
  meter.count(`http:${c.var.route ?? ROUTE_OTHER},${c.res.status}`);
  const later = laterOf(c);
  if (later) meter.sendLater(later);
}

/** An answer at the Engine.IO endpoint: `response`, as it is. */
export function noteConnect(c: Context<App>, response: Response): Response {
  c.set("route", ROUTE_CONNECT);
  const { status } = response;
  if (status < 400) return response;
  const { meter, settings } = c.var.deployment;
  const code = codeOf(response) ?? `STATUS_${status}`;
  meter.count(`refusals:${code}`);
  writeLog(settings, "info", "connection.refused", { code, status, path: new URL(c.req.url).pathname });
  return response;
}

/** A test may call the Worker without anything to wait with. */
export function laterOf(c: Context<App>): Later | undefined {
  try {
    return c.executionCtx;
  } catch {
    return undefined;
  }
}
