// The routes of the chat: those of any application (socketio.ts), guests, the HTTP API and its description. Called by parley.ts.
import { cors } from "hono/cors";

import type { Hono } from "hono";
import { describeApi } from "./api/openapi.ts";
import { api } from "./api/routes.ts";
import { GUEST_PATH, issueGuestToken } from "./api/guest.ts";
import { isOriginAllowed } from "./http/request-origin.ts";
import { PREFLIGHT_SECONDS } from "./connect/polling-cors.ts";
import { refuseMethod } from "./http/refusals.ts";
import type { App } from "./deployment.ts";
import type { Mount } from "./mount.ts";
import { socketIoWorker } from "./socketio.ts";
import { VERSION } from "./version.ts";

/** Headers that pages of other origins may read, besides those of a file. */
const EXPOSED = ["Link", "Retry-After"];
const EXPOSED_OF_FILES = ["Content-Disposition", "Content-Range", "Accept-Ranges", "ETag", "Retry-After"];

export function chatWorker(mount: Mount): Hono<App> {
  const app = socketIoWorker(mount);

  for (const path of ["/api/*", "/files/*", "/openapi.json"]) {
    app.use(path, (c, next) => {
      const { allowedOrigins } = c.var.deployment.settings;
      const origin = (asking: string): string | undefined =>
        isOriginAllowed(allowedOrigins, c.req.raw) ? asking : undefined;
      return cors({
        origin,
        exposeHeaders: path === "/files/*" ? EXPOSED_OF_FILES : EXPOSED,
        maxAge: PREFLIGHT_SECONDS,
      })(c, next);
    });
  }

  app.post(GUEST_PATH, (c) => {
    c.set("route", "guest");
    return issueGuestToken(c.req.raw, c.var.deployment);
  });
  app.all(GUEST_PATH, () => refuseMethod(["POST"]));

  let description: string | undefined;
  app.get("/openapi.json", (c) =>
    c.body((description ??= describeApi(VERSION, mount.basePath)), 200, { "Content-Type": "application/json" }),
  );
  app.all("/openapi.json", () => refuseMethod(["GET"]));

  app.route("/", api);

  return app;
}
