// Kinds of clients, as the Worker tells them apart at the handshake. Those that know connection state recovery take the string at the
// end of every event for an offset; the others hand it to their handlers, and a Python handler with one parameter breaks on it.
// No client says which kind it is, so its request headers have to tell (REC-2, EIO-8).

/**
 * How JavaScript runtimes name themselves. Their socket.io-client knows recovery, or is older than 4.6 and passes
 * the offset on as one more argument, which JavaScript handlers ignore unless they count.
 */
const JAVASCRIPT_AGENT = /^(Mozilla|node|Bun|Deno)/i;

/** What the `ws` package offers, which names itself not at all. */
const WS_EXTENSION = "client_max_window_bits";

/** Whether it is a client of a JavaScript runtime, as far as it says what it is. */
export function isJavaScriptAgent(userAgent: string | null): boolean {
  return userAgent !== null && JAVASCRIPT_AGENT.test(userAgent);
}

/**
 * @param asked `?recovery=on` or `off`, which wins
 * @param userAgent of the request, `null` where it has none
 * @param extensions its `Sec-WebSocket-Extensions`
 */
export function knowsRecovery(asked: string | null, userAgent: string | null, extensions: string | null): boolean {
  if (asked !== null) return asked === "on";
  if (userAgent !== null) return isJavaScriptAgent(userAgent);
  return extensions?.includes(WS_EXTENSION) ?? false;
}
