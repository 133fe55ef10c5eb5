// CORS for the HTTP API and files: pages of allowed origins may call it, with tokens and without cookies. Middleware of app.ts.
import type { Context } from "hono";

import { preflight } from "../connect/polling-cors.ts";
import type { App } from "../deployment.ts";
import { isOriginAllowed } from "../http/request-origin.ts";

const METHODS = "GET,HEAD,POST,PATCH,DELETE";

/** Marks an answer as readable for the page that asked, if its origin is allowed, and answers preflights itself. @param exposed headers that pages may read */
export const apiCors =
  (exposed: string) =>
  async (c: Context<App>, next: () => Promise<void>): Promise<void> => {
    const request = c.req.raw;
    if (request.method === "OPTIONS") c.res = preflight(METHODS, request);
    else await next();
    const origin = request.headers.get("Origin");
    if (origin !== null && isOriginAllowed(c.var.deployment.settings.allowedOrigins, request))
      c.header("Access-Control-Allow-Origin", origin);
    c.header("Access-Control-Expose-Headers", exposed);
    c.header("Vary", "Origin", { append: true });
  };
