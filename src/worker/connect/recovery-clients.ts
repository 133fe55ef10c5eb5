// Tells from request headers which clients know connection state recovery (REC-2, EIO-8). Called by engine-endpoint.ts and the endpoints. Clients that know it take
// the string at the end of every event for an offset. Other clients hand that string to their handlers, and a Python handler with one
// parameter fails on it. No client names its kind.

/**
 * User agents of JavaScript runtimes. Their socket.io-client knows recovery, or is older than 4.6 and passes
 * the offset on as one more argument, which JavaScript handlers ignore unless they count.
 */
const JAVASCRIPT_AGENT = /^(Mozilla|node|Bun|Deno)/i;

/** The extension that the `ws` package offers, which sends no user agent. */
const WS_EXTENSION = "client_max_window_bits";

/** Recognises JavaScript runtimes that send a user agent. */
export function isJavaScriptAgent(userAgent: string | null): boolean {
  return userAgent !== null && JAVASCRIPT_AGENT.test(userAgent);
}

/** @param asked `?recovery=on` or `off`, which wins */
export function knowsRecovery({ headers }: Request, asked: string | undefined): boolean {
  // Any other value is an application's, for something of its own.
  if (asked === "on" || asked === "off") return asked === "on";
  const userAgent = headers.get("User-Agent");
  if (userAgent !== null) return isJavaScriptAgent(userAgent);
  return headers.get("Sec-WebSocket-Extensions")?.includes(WS_EXTENSION) ?? false;
}
