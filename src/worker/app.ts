// The Worker's routes. It knows tokens, origins and limits; of chat it knows nothing.
import { Hono } from "hono";
import { cors } from "hono/cors";
import type { ContentfulStatusCode } from "hono/utils/http-status";

import { deploymentOf, type Deployment, type WorkerEnv } from "./deployment.ts";
import { connect } from "./engine-route.ts";
import { issueGuestToken } from "./guest-route.ts";
import { isOriginAllowed } from "./origin.ts";
import { refuseRequest } from "./refusals.ts";

/** Shown by `/health`; a test keeps it equal to package.json's. */
export const VERSION = "0.1.0";

type App = { Bindings: WorkerEnv; Variables: { deployment: Deployment } };

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
  return next();
});

// No middleware that touches headers may wrap these: those of an upgrade's answer are immutable.
for (const path of ["/socket.io", "/socket.io/"]) {
  app.all(path, (c) => connect(c.req.raw, c.env, c.var.deployment));
}
for (const path of ["/rooms/:room/socket.io", "/rooms/:room/socket.io/"]) {
  app.all(path, (c) => connect(c.req.raw, c.env, c.var.deployment, c.req.param("room")));
}

app.use("/api/*", (c, next) => {
  const { allowedOrigins } = c.var.deployment.settings;
  return cors({ origin: (origin) => (isOriginAllowed(allowedOrigins, c.req.raw) ? origin : undefined) })(c, next);
});

app.post("/api/guest", (c) => issueGuestToken(c.req.raw, c.var.deployment));

app.notFound(() => refuseRequest(404, "NOT_FOUND", "No such address"));

app.onError((error) => {
  console.error("a request failed:", error);
  return refuseRequest(500, "INTERNAL", "Something went wrong here; try again");
});

export default app;
