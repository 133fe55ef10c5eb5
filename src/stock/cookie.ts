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
  const attributes = Object.entries({
    "Max-Age": maxAge !== undefined && Math.floor(maxAge),
    Domain: domain,
    Path: path,
    Expires: expires?.toUTCString(),
    HttpOnly: httpOnly,
    Secure: secure,
    SameSite: sameSite === true ? "Strict" : sameSite && sameSite[0]!.toUpperCase() + sameSite.slice(1),
  });
  const given = attributes.flatMap(([attribute, value]) => {
    if (value === undefined || value === false) return [];
    return value === true ? attribute : `${attribute}=${value}`;
  });
  return [`${name}=${encodeURIComponent(sid)}`, ...given].join("; ");
}
