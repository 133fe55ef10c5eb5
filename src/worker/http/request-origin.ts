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
export function isTrusted(allowed: AllowedOrigins, request: Request): boolean {
  if (allowed !== "*") return true;
  const origin = request.headers.get("Origin");
  if (origin === null) return unnamedSiteOf(request) === undefined || isFollowedLink(request);
  return URL.parse(origin)?.hostname === new URL(request.url).hostname;
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

/**
 * Browsers apply no same-origin policy to WebSockets, images and links, so the server checks. A request that names no page or site is no
 * page's: its token decides alone.
 */
export function isOriginAllowed(allowed: AllowedOrigins, request: Request): boolean {
  const { headers, url } = request;
  const origin = headers.get("Origin");
  if (origin === null) {
    const site = unnamedSiteOf(request);
    // An allowed page of another site names itself wherever it connects: this is an image of any page, for example.
    if (site !== "same-site") return site === undefined;
    return allowed === "*" || (allowed !== "same" && allowed.some((listed) => siteOf(listed) === siteOf(url)));
  }
  // The server's own origin always counts: some clients that are no browsers send it.
  return allowed === "*" || origin === new URL(url).origin || (allowed !== "same" && allowed.includes(origin));
}

/**
 * Browsers leave `Origin` out of requests that a page makes without a script, as for images and links.
 * @returns the site of the page, if such a request came from a page of another origin
 */
function unnamedSiteOf({ headers }: Request): "cross-site" | "same-site" | undefined {
  const site = headers.get("Sec-Fetch-Site");
  return !headers.has("Origin") && (site === "cross-site" || site === "same-site") ? site : undefined;
}

/** The browser knows which hosts share a site; of two that it says do, the ends agree. */
const siteOf = (url: string): string => new URL(url).hostname.split(".").slice(-2).join(".");

/** A link that a person follows, on a page of any site: the browser shows the answer, and that page reads nothing of it. */
export function isFollowedLink({ method, headers }: Request): boolean {
  return (
    method === "GET" && headers.get("Sec-Fetch-Mode") === "navigate" && headers.get("Sec-Fetch-Dest") === "document"
  );
}
