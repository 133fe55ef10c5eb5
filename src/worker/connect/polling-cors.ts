// The pages that may connect, and CORS for their long-polling, with credentials for those that are named. Called by endpoints that decide about
// origins; preflights also by api-cors.ts. Middleware that wraps the endpoint would touch the headers of upgrades, which are immutable.

import { codeOf, withCode } from "../http/refusals.ts";
import { isOriginAllowed, isTrusted, type AllowedOrigins } from "../http/request-origin.ts";

/** Browsers may cache the answer to a preflight for this time, in seconds. */
const PREFLIGHT_SECONDS = 600;

export interface Pages {
  /** Whether a request is of a page that may not connect. */
  isForeign(request: Request): boolean;
  answerPreflight(request: Request): Response;
  /** Marks a polling answer as readable for the page that asked. */
  withCors(request: Request, response: Response): Response;
}

export const pagesOf = (allowed: AllowedOrigins): Pages => ({
  isForeign: (request) => !isOriginAllowed(allowed, request),
  answerPreflight: (request) => withCors(allowed, request, preflight("GET, POST", request)),
  withCors: (request, response) => withCors(allowed, request, response),
});

/** Answers to requests without an origin stay as they are. */
function withCors(allowed: AllowedOrigins, request: Request, response: Response): Response {
  const origin = request.headers.get("Origin");
  if (origin === null) return response;
  const marked = new Response(response.body, response);
  marked.headers.set("Access-Control-Allow-Origin", origin);
  if (isTrusted(allowed, request)) marked.headers.set("Access-Control-Allow-Credentials", "true");
  marked.headers.append("Vary", "Origin");
  return withCode(marked, codeOf(response));
}

/** @param methods those that pages may use, separated by commas */
export function preflight(methods: string, { headers }: Request): Response {
  return new Response(null, {
    status: 204,
    headers: {
      "Access-Control-Allow-Methods": methods,
      "Access-Control-Allow-Headers": headers.get("Access-Control-Request-Headers") ?? "",
      "Access-Control-Max-Age": String(PREFLIGHT_SECONDS),
    },
  });
}
