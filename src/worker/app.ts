// The Worker's routes. It knows tokens, origins and limits; of chat it knows what may be given to a room (api/).
import { Hono } from "hono";
import { cors } from "hono/cors";
import type { ContentfulStatusCode } from "hono/utils/http-status";

import { describeApi } from "./api/openapi.ts";
import { api, refuseMethod } from "./api/routes.ts";
import { logProblem } from "../access/log.ts";
import { countAnswer, noteConnect } from "./answers-counted.ts";
import { deploymentOf, type App } from "./deployment.ts";
import { connect } from "./engine-route.ts";
import { issueGuestToken } from "./guest-route.ts";
import { showMetrics } from "./metrics-route.ts";
import { isOriginAllowed } from "./origin.ts";
import { PREFLIGHT_SECONDS } from "./polling-cors.ts";
import { refuseRequest } from "./refusals.ts";

/** Shown by `/health`; a test keeps it equal to package.json's. */
export const VERSION = "0.1.0";

/** Headers that pages of other origins may read, besides those of a file. */
const EXPOSED = ["Link", "Retry-After"];
const EXPOSED_OF_FILES = ["Content-Disposition", "Content-Range", "Accept-Ranges", "ETag", "Retry-After"];

const app = new Hono<App>();

app.get("/health", (c) => {
  const isHealthy = deploymentOf(c.env) !== undefined;
  const status: ContentfulStatusCode = isHealthy ? 200 : 503;
  return c.json({ status: isHealthy ? "healthy" : "misconfigured", timestamp: Date.now(), version: VERSION }, status);
});

// Fails closed: with a bad setting or no key nobody is let in, and the log says why.
app.use(async (c, next) => {
  const deployment = deploymentOf(c.env);
  if (!deployment)
    return refuseRequest(503, "MISCONFIGURED", "The server is not set up yet; its log says what is missing");
  c.set("deployment", deployment);
  await next();
  countAnswer(c);
  return undefined;
});

/** In front of none but these: who watches is not watched. */
app.get("/metrics", (c) => showMetrics(c.req.raw, c.env, c.var.deployment, VERSION));
app.all("/metrics", () => refuseMethod(["GET"]));

// No middleware that touches headers may wrap these: those of an upgrade's answer are immutable.
for (const path of ["/socket.io", "/socket.io/"]) {
  app.all(path, async (c) => noteConnect(c, await connect(c.req.raw, c.env, c.var.deployment)));
}
for (const path of ["/rooms/:room/socket.io", "/rooms/:room/socket.io/"]) {
  app.all(path, async (c) => noteConnect(c, await connect(c.req.raw, c.env, c.var.deployment, c.req.param("room"))));
}

for (const path of ["/api/*", "/files/*", "/openapi.json"]) {
  app.use(path, (c, next) => {
    const { allowedOrigins } = c.var.deployment.settings;
    const origin = (asking: string): string | undefined =>
      isOriginAllowed(allowedOrigins, c.req.raw) ? asking : undefined;
    return cors({ origin, exposeHeaders: path === "/files/*" ? EXPOSED_OF_FILES : EXPOSED, maxAge: PREFLIGHT_SECONDS })(
      c,
      next,
    );
  });
}

app.post("/api/guest", (c) => {
  c.set("route", "guest");
  return issueGuestToken(c.req.raw, c.var.deployment);
});
app.all("/api/guest", () => refuseMethod(["POST"]));

app.get("/openapi.json", (c) => c.body(describeApi(VERSION), 200, { "Content-Type": "application/json" }));
app.all("/openapi.json", () => refuseMethod(["GET"]));

app.route("/", api);

app.notFound(() => refuseRequest(404, "NOT_FOUND", "No such address"));

app.onError((error, c) => {
  const { pathname } = new URL(c.req.url);
  logProblem("request.failed", "a request failed", error, { method: c.req.method, path: pathname });
  c.var.deployment?.meter.count("problems:worker");
  if (isPassing(error)) {
    return refuseRequest(503, "UNAVAILABLE", "The room cannot be reached right now; try again", { "Retry-After": "1" });
  }
  return refuseRequest(500, "INTERNAL", "Something went wrong here; try again");
});

/** What the platform says of a room that has too much to do, or whose machine has just gone. */
function isPassing(error: Error): boolean {
  const { overloaded, retryable } = error as { overloaded?: unknown; retryable?: unknown };
  return overloaded === true || retryable === true;
}

export default app;
