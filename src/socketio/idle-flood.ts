// Packets that mean nothing (a noop, an ack that nobody waits for) cost little each, and a room that does nothing but
// pass them over serves nobody else. Bounded per session (LIM-4).
import type { Session } from "./session.ts";

/** More than any client sends, a hundred times over. */
export const IDLE_PACKETS_MAX = 1000;

/** A room that sleeps has been quiet for as long, so the count may vanish with its memory. */
export const IDLE_WINDOW_MS = 10_000;

/** Counts a packet. @returns whether it is one too many */
export function isIdleFlood(session: Session, nowMs: number): boolean {
  const { count, sinceMs } = session.idlePackets;
  const isOver = nowMs - sinceMs >= IDLE_WINDOW_MS;
  session.idlePackets = isOver ? { count: 1, sinceMs: nowMs } : { count: count + 1, sinceMs };
  return session.idlePackets.count > IDLE_PACKETS_MAX;
}
