// Which web pages may talk to us. WebSockets know no same-origin policy, so the server has to ask.
import type { Settings } from "../settings/settings.ts";

/** Whether a browser sent a request: it says from which page, or (`Sec-Fetch-Site`) that the page is its own server's. */
export function isFromBrowser(request: Request): boolean {
  return request.headers.has("Origin") || request.headers.has("Sec-Fetch-Site");
}

/** Whether a request may come in. One without an `Origin` does not come from a page: its token decides alone. */
export function isOriginAllowed(allowed: Settings["allowedOrigins"], request: Request): boolean {
  const origin = request.headers.get("Origin");
  if (origin === null || allowed === "*") return true;
  // Our own origin always counts: some clients that are no browsers send it whoever they are.
  return origin === new URL(request.url).origin || (allowed !== "same" && allowed.includes(origin));
}
