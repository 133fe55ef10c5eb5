// Computes the wait before the next attempt: it doubles, half of it is random so that the clients of a restarted server do not
// all return in the same moment, and it is never shorter than the server asked for.

export const RETRY_FIRST_MS = 1000;
export const RETRY_MAX_MS = 30_000;
/** The longest wait that a server may ask for; beyond it the application gets the error. */
export const RETRY_AFTER_MAX_MS = 60_000;

/**
 * @param attempt how often it failed before: 0, 1, 2, …
 * @param random at least 0, less than 1
 * @param retryAfterMs the wait that the server asked for
 */
export function retryDelayMs(attempt: number, random: number, retryAfterMs = 0): number {
  const ceilingMs = Math.min(RETRY_MAX_MS, RETRY_FIRST_MS * 2 ** attempt);
  const backoffMs = (ceilingMs / 2) * (1 + random);
  return Math.round(Math.max(backoffMs, retryAfterMs + random * RETRY_FIRST_MS));
}

/** The longest wait that a draining server may ask for: the longest time a drain may take (API-10). */
export const APPOINTMENT_MAX_MS = 600_000;

/** Reads `retryAfterMs` from the wire; `undefined` where it is no wait. */
export function readRetryAfterMs(value: unknown, maxMs = RETRY_AFTER_MAX_MS): number | undefined {
  return typeof value === "number" && value >= 0 ? Math.min(value, maxMs) : undefined;
}
