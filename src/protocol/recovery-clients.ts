// Which clients know connection state recovery. Those that do take the string at the end of every event
// for an offset; the others hand it to their handlers, and a Python handler with one parameter breaks on it.
// No client says which kind it is, so its request headers have to tell (REC-2).

/**
 * How JavaScript runtimes name themselves. Their socket.io-client knows recovery, or is older than 4.6 and passes
 * the offset on as one more argument, which JavaScript handlers ignore unless they count.
 */
const JAVASCRIPT_AGENT = /^(Mozilla|node|Bun|Deno)/i;

/** What the `ws` package offers, which names itself not at all. */
const WS_EXTENSION = "client_max_window_bits";

/**
 * @param asked `?recovery=on` or `off`, which wins
 * @param userAgent of the request, `null` where it has none
 * @param extensions its `Sec-WebSocket-Extensions`
 */
export function knowsRecovery(asked: string | null, userAgent: string | null, extensions: string | null): boolean {
  if (asked !== null) return asked === "on";
  if (userAgent !== null) return JAVASCRIPT_AGENT.test(userAgent);
  return extensions?.includes(WS_EXTENSION) ?? false;
}
