// The chat's Worker: the routes of any application (socketio.ts), guests, the HTTP API and its description. Called by src/index.ts.
import { cors } from "hono/cors";

import { describeApi } from "./api/openapi.ts";
import { api } from "./api/routes.ts";
import { issueGuestToken } from "./api/guest.ts";
import { isOriginAllowed } from "./http/request-origin.ts";
import { PREFLIGHT_SECONDS } from "./connect/polling-cors.ts";
import { refuseMethod } from "./http/refusals.ts";
import { socketIoWorker } from "./socketio.ts";
import { VERSION } from "./version.ts";

/** Headers that pages of other origins may read, besides those of a file. */
const EXPOSED = ["Link", "Retry-After"];
const EXPOSED_OF_FILES = ["Content-Disposition", "Content-Range", "Accept-Ranges", "ETag", "Retry-After"];

const app = socketIoWorker();

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

export default app;
