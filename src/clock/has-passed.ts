// Decides whether a span of time is over. Called by throttles, windows and features that act at most once per span.

/** Whether `spanMs` have passed since `atMs`. A clock that was set back since then counts as passed, so nothing waits for hours. */
export function hasPassed(atMs: number, spanMs: number, nowMs: number): boolean {
  return nowMs - atMs >= spanMs || nowMs < atMs;
}
