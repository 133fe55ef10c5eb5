// Reads from a request the client's address and the web page that sent it. Called by routes and by limits per address.

/** Pages that may connect: of any origin, of the server's own, or of those listed besides its own. */
export type AllowedOrigins = "*" | "same" | readonly string[];

/** The platform replaces this header, so no client can set it. */
export function addressOf(request: Request): string {
  return request.headers.get("CF-Connecting-IP") ?? "unknown";
}

/** Browsers name the page (`Origin`), or say that it is the server's own (`Sec-Fetch-Site`). */
export function isFromBrowser(request: Request): boolean {
  return request.headers.has("Origin") || request.headers.has("Sec-Fetch-Site");
}

/** Headers that browsers add by themselves to requests of any page; Cloudflare Access makes the second one of its cookie. */
const AMBIENT = ["Cookie", "Cf-Access-Jwt-Assertion"];

/**
 * Whether the page that sent a request may use what its browser knows of the user. `*` admits pages without trusting them: then only those of the
 * server's own host may, on any port, as cookies have it.
 */
export function isTrusted(allowed: AllowedOrigins, { headers, url }: Request): boolean {
  const origin = headers.get("Origin");
  return allowed !== "*" || origin === null || URL.parse(origin)?.hostname === new URL(url).hostname;
}

/** The request as `authenticate` sees it: without cookies, passwords and certificates (`cf`) if the page that sent it is not trusted. */
export function asTrusted(allowed: AllowedOrigins, request: Request): Request {
  if (isTrusted(allowed, request)) return request;
  const { method, url } = request;
  const headers = new Headers(request.headers);
  for (const name of AMBIENT) headers.delete(name);
  if (!/^bearer /i.test(headers.get("Authorization") ?? "")) headers.delete("Authorization");
  return new Request(url, { method, headers });
}

/** Browsers apply no same-origin policy to WebSockets, so the server checks. A request without an `Origin` is no page's: its token decides alone. */
export function isOriginAllowed(allowed: AllowedOrigins, request: Request): boolean {
  const origin = request.headers.get("Origin");
  if (origin === null || allowed === "*") return true;
  // The server's own origin always counts: some clients that are no browsers send it.
  return origin === new URL(request.url).origin || (allowed !== "same" && allowed.includes(origin));
}
