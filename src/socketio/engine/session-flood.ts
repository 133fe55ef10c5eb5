// What a session may do a few times, and what costs its room more than it serves anybody if it goes on: counted for each session in
// a window that all of them share.
import type { Session } from "./session.ts";

/** A room that sleeps has been quiet for as long, so the counts may vanish with its memory. */
export const COUNT_WINDOW_MS = 10_000;

/**
 * CONNECTs in a window: more than any client has namespaces, a few times over. Every one is a verdict, a welcome and news for
 * the others, so a client that joins and leaves for ever costs more than anything else it could say (SIO-11).
 */
export const CONNECTS_MAX = 100;

/**
 * Packets in a window that mean nothing, as a noop or an ack that nobody waits for: more than any client sends, a hundred times
 * over (LIM-4).
 */
export const IDLE_PACKETS_MAX = 1000;

export class SessionFlood {
  readonly #max: number;
  readonly #counts = new Map<Session, number>();
  #sinceMs = -Infinity;

  /** @param max how often a session may, in a window */
  constructor(max: number) {
    this.#max = max;
  }

  /** Counts once more. @returns whether it is once too often */
  isOver(session: Session, nowMs: number): boolean {
    // A clock that was set back by much begins a window, too.
    if (Math.abs(nowMs - this.#sinceMs) >= COUNT_WINDOW_MS) {
      this.#counts.clear();
      this.#sinceMs = nowMs;
    }
    const count = (this.#counts.get(session) ?? 0) + 1;
    this.#counts.set(session, count);
    return count > this.#max;
  }

  /** The session is over, or is another one's by now. */
  forget(session: Session): void {
    this.#counts.delete(session);
  }
}
