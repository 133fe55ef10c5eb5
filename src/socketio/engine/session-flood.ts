// Limits on cheap inputs with costly consequences, counted per session in a window that all sessions share. Called by engine.ts and
// connects.ts.
import { Window } from "../../clock/window.ts";
import type { Session } from "./session.ts";

/** A room that sleeps has been quiet for as long, so the counts may vanish with its memory. */
export const COUNT_WINDOW_MS = 10_000;

/**
 * CONNECTs in a window: more than any client has namespaces, a few times over. Every one is a decision, a welcome and news for
 * the others, so a client that joins and leaves for ever costs more than anything else it could say (SIO-11).
 */
export const CONNECTS_MAX = 100;

/**
 * Packets in a window that mean nothing, as a noop or an unexpected ack: more than any client sends, a hundred times
 * over (LIM-4).
 */
export const IDLE_PACKETS_MAX = 1000;

/** Counts what each session does in a window. Called by the engine and the server. */
export class SessionFlood extends Window<Session> {
  readonly #max: number;

  /** @param max how often a session may, in a window */
  constructor(max: number) {
    super(COUNT_WINDOW_MS);
    this.#max = max;
  }

  /** Counts once more. @returns whether it is once too often */
  isOver(session: Session, nowMs: number): boolean {
    return this.count(session, nowMs) > this.#max;
  }
}
