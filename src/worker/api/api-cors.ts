// CORS for the HTTP API and files: pages of allowed origins may call it, with tokens but without cookies. Called by app.ts.
import { preflight } from "../connect/polling-cors.ts";
import type { Visit } from "../deployment.ts";
import { isOriginAllowed } from "../http/request-origin.ts";

const METHODS = "GET,HEAD,POST,PATCH,DELETE";

/** Headers that pages of other origins may read, besides those of a file. */
const EXPOSED = "Link,Retry-After";
const EXPOSED_OF_FILES = "Content-Disposition,Content-Range,Accept-Ranges,ETag,Retry-After";

/** The addresses that pages of other origins may call. */
const OPEN_PATH = /^\/(?:(?:api|files)(?:\/|$)|openapi\.json$)/;

/** Answers a preflight itself, and marks any other answer as readable for the page that asked, if its origin is allowed. */
export async function withApiCors(visit: Visit, answer: () => Promise<Response>): Promise<Response> {
  const { request, path, deployment } = visit;
  if (!OPEN_PATH.test(path)) return answer();
  const response = request.method === "OPTIONS" ? preflight(METHODS, request) : await answer();
  const marked = new Response(response.body, response);
  const { headers } = marked;
  const origin = request.headers.get("Origin");
  if (origin !== null && isOriginAllowed(deployment.settings.allowedOrigins, request))
    headers.set("Access-Control-Allow-Origin", origin);
  headers.set("Access-Control-Expose-Headers", path.startsWith("/files") ? EXPOSED_OF_FILES : EXPOSED);
  headers.append("Vary", "Origin");
  return marked;
}
