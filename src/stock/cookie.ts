// The cookie with the session's id, if the server's options ask for one. Called by engine-server.ts.

export interface CookieOptions {
  readonly name?: string | undefined;
  readonly path?: string | undefined;
  readonly domain?: string | undefined;
  readonly httpOnly?: boolean | undefined;
  readonly secure?: boolean | undefined;
  /** `true` is `strict`. */
  readonly sameSite?: boolean | "lax" | "strict" | "none" | undefined;
  /** In seconds. */
  readonly maxAge?: number | undefined;
  readonly expires?: Date | undefined;
}

/** As the package cookie writes it, with engine.io's defaults. */
export function cookieOf(sid: string, options: CookieOptions): string {
  const { name, path, domain, httpOnly, secure, sameSite, maxAge, expires } = {
    name: "io",
    path: "/",
    httpOnly: true,
    sameSite: "lax" as const,
    ...options,
  };
  const site = sameSite === true ? "strict" : sameSite;
  const parts = [
    `${name}=${encodeURIComponent(sid)}`,
    maxAge !== undefined && `Max-Age=${Math.floor(maxAge)}`,
    domain !== undefined && `Domain=${domain}`,
    path !== undefined && `Path=${path}`,
    expires && `Expires=${expires.toUTCString()}`,
    httpOnly && "HttpOnly",
    secure && "Secure",
    site && `SameSite=${site[0]!.toUpperCase()}${site.slice(1)}`,
  ];
  return parts.filter((part) => typeof part === "string").join("; ");
}
