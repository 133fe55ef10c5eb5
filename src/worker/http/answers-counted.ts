// Counts the Worker's answers by route and status, and logs refused connections. Called by app.ts.
import { maybeLog } from "../../settings/log.ts";
import type { Visit } from "../deployment.ts";
import { codeOf } from "./endpoint-refusals.ts";
import type { Later } from "../metrics/worker-meter.ts";

/** The route of requests that no route has taken. */
const ROUTE_OTHER = "other";
const ROUTE_CONNECT = "socket.io";
/** Not counted: a deployment that only gets scrapes has nothing to send. */
const UNCOUNTED = new Set(["/metrics", "/health"]);

/** Once an answer is there; of its headers, which may be immutable, nothing is touched. */
export function countAnswer(
  { path, route = ROUTE_OTHER, deployment }: Visit,
  { status }: Response,
  later?: Later,
): void {
  if (UNCOUNTED.has(path)) return;
  const { meter } = deployment;
  meter.count(`http:${route},${status}`);
  if (later) meter.sendLater(later);
}

/** An answer at the Engine.IO endpoint: `response`, as it is. */
export function noteConnect(visit: Visit, response: Response): Response {
  visit.route = ROUTE_CONNECT;
  const { status } = response;
  if (status < 400) return response;
  const { meter, settings } = visit.deployment;
  const code = codeOf(response) ?? `STATUS_${status}`;
  meter.count(`refusals:${code}`);
  maybeLog(settings, "info", "connection.refused", { code, status, path: new URL(visit.request.url).pathname });
  return response;
}
