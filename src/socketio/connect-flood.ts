// A client that joins and leaves for ever costs its room more than anything else it could say: every CONNECT
// is a verdict, a welcome and news for the others. Bounded per session (SIO-11).
import type { Session } from "./session.ts";

/** More than any client has namespaces, a few times over. */
export const CONNECTS_MAX = 100;

/** A room that sleeps has been quiet for as long, so the count may vanish with its memory. */
export const CONNECTS_WINDOW_MS = 10_000;

/** Counts a CONNECT. @returns whether it is one too many */
export function isConnectFlood(session: Session, nowMs: number): boolean {
  const { count, sinceMs } = session.connects;
  const isOver = nowMs - sinceMs >= CONNECTS_WINDOW_MS;
  session.connects = isOver ? { count: 1, sinceMs: nowMs } : { count: count + 1, sinceMs };
  return session.connects.count > CONNECTS_MAX;
}
