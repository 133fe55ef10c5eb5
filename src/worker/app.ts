// The routes of the chat: health, metrics, the Socket.IO endpoint, guests, the HTTP API and its description. Called by parley.ts.
import { Hono, type Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";

import { logProblem } from "../settings/log.ts";
import { apiCors } from "./api/api-cors.ts";
import type { ApiCall } from "./api/call.ts";
import { describeApi } from "./api/openapi.ts";
import { apiOf } from "./api/routes.ts";
import { ENTRANCE_PATH, GUEST_PATH, issueGuestToken, showEntrance } from "./api/guest.ts";
import { answerEngineRequest } from "./connect/engine-endpoint.ts";
import { deploymentOf, type App } from "./deployment.ts";
import type { InWorker } from "./feature.ts";
import { countAnswer, laterOf, noteConnect } from "./http/answers-counted.ts";
import { BodyLost } from "../http/timed-body.ts";
import { refuseIssues, refuseMethod, refusePassing, refuseRequest } from "./http/refusals.ts";
import { showMetrics } from "./metrics/metrics-route.ts";
import { pathWithin, type Mount } from "./mount.ts";
import { VERSION } from "./version.ts";

/** Headers that pages of other origins may read, besides those of a file. */
const EXPOSED = "Link,Retry-After";
const EXPOSED_OF_FILES = "Content-Disposition,Content-Range,Accept-Ranges,ETag,Retry-After";

export function chatWorker(mount: Mount, calls: readonly ApiCall[], features: readonly InWorker[]): Hono<App> {
  // Routes see the path behind the base path; the request keeps its own.
  const app = new Hono<App>({ getPath: (request) => pathWithin(mount, request) ?? "/" });

  app.get("/health", (c) => {
    const isHealthy = deploymentOf(mount, c.env) !== undefined;
    const status: ContentfulStatusCode = isHealthy ? 200 : 503;
    return c.json({ status: isHealthy ? "healthy" : "misconfigured", timestamp: Date.now(), version: VERSION }, status);
  });

  // Fails closed: with a bad setting or no key the Worker refuses all requests, and the log says why.
  app.use(async (c, next) => {
    const deployment = deploymentOf(mount, c.env);
    if (!deployment)
      return refuseRequest("MISCONFIGURED", "The server is not set up yet; its log says what is missing");
    c.set("deployment", deployment);
    await carryThrough(c, next);
    countAnswer(c);
    return undefined;
  });

  // No middleware that touches headers may wrap these: those of an upgrade's answer are immutable.
  app.on("ALL", ["/socket.io", "/socket.io/"], async (c) =>
    noteConnect(c, await answerEngineRequest(c.req.raw, c.var.deployment.endpoint)),
  );
  app.on("ALL", ["/rooms/:room/socket.io", "/rooms/:room/socket.io/"], async (c) =>
    noteConnect(c, await answerEngineRequest(c.req.raw, c.var.deployment.endpoint, c.req.param("room"))),
  );

  for (const path of ["/api/*", "/openapi.json"]) app.use(path, apiCors(EXPOSED));
  app.use("/files/*", apiCors(EXPOSED_OF_FILES));

  /** Scrapes are not counted themselves. */
  app.get("/metrics", (c) => showMetrics(c.req.raw, c.var.deployment, { version: VERSION, features }));
  app.all("/metrics", () => refuseMethod(["GET"]));

  app.post(GUEST_PATH, (c) => {
    c.set("route", "guest");
    return issueGuestToken(c.req.raw, c.var.deployment);
  });
  app.all(GUEST_PATH, () => refuseMethod(["POST"]));
  app.get(ENTRANCE_PATH, (c) => {
    c.set("route", "guest");
    return showEntrance(c.req.raw, c.var.deployment);
  });
  app.all(ENTRANCE_PATH, () => refuseMethod(["GET"]));

  let description: string | undefined;
  app.get("/openapi.json", (c) =>
    c.body((description ??= describeApi(calls, VERSION, mount.basePath)), 200, { "Content-Type": "application/json" }),
  );
  app.all("/openapi.json", () => refuseMethod(["GET"]));

  app.route("/", apiOf(calls));

  app.notFound(() => refuseRequest("NOT_FOUND", "No such address"));

  app.onError((error, c) => {
    // A fault of the client: it is neither logged nor counted as one of the server.
    if (error instanceof BodyLost)
      return error.isLate
        ? refuseRequest("TIMED_OUT", "The body did not come in time")
        : refuseIssues([{ path: "", message: "the body broke off" }]);
    const { pathname } = new URL(c.req.url);
    logProblem("request.failed", "a request failed", error, { method: c.req.method, path: pathname });
    c.var.deployment?.meter.count("problems:worker");
    return refusePassing(error) ?? refuseRequest("INTERNAL", "Something went wrong here; try again");
  });

  return app;
}

/**
 * Carries a request through when its client goes before the answer. The platform stops such a request at its next await: a place
 * that it took would never be given back, and a key set that others wait for never come. Polls are left out: they last as long
 * as their room is quiet, and hold nothing.
 */
async function carryThrough(c: Context<App>, answer: () => Promise<void>): Promise<void> {
  const answering = answer();
  if (c.req.query("sid") === undefined) laterOf(c)?.waitUntil(answering);
  await answering;
}
