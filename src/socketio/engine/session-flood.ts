// Limits how often a session may send inputs that cost the server more than the client. Called by engine.ts, connects.ts,
// failures.ts and src/stock/packet-limits.ts.
import { Window } from "../../clock/rates.ts";
import type { Session } from "./session.ts";

/** A room sleeps only after as much quiet, so the counts need not survive its sleep. */
export const COUNT_WINDOW_MS = 10_000;

/**
 * CONNECTs in a window for a session in few namespaces. Each CONNECT costs a decision, a welcome and news for the other
 * members, so a client that joins and leaves in a loop costs more than by any other input (SIO-11).
 */
export const CONNECTS_MAX = 100;

/** The same for each namespace of a session in many: it may join all, be disconnected from all, and join again. */
export const CONNECTS_PER_NAMESPACE = 3;

/** Packets without meaning in a window, such as a noop or an unexpected ack: a hundred times as many as any client sends (LIM-4). */
export const IDLE_PACKETS_MAX = 1000;

/** Counts one kind of input per session, in a window that all sessions share. */
export class SessionFlood extends Window<Session> {
  readonly #max: number;

  /** @param max inputs of one session in a window */
  constructor(max: number) {
    super(COUNT_WINDOW_MS);
    this.#max = max;
  }

  /** Counts one more. @param max if the session may send more than others. @returns whether it is one too many */
  isOver(session: Session, nowMs: number, max = 0): boolean {
    return this.count(session, nowMs) > Math.max(this.#max, max);
  }
}
