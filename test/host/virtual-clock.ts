// A clock that tests turn by hand: each timer runs at its moment, without waiting. Called by the tests of the client.
import type { Clock } from "../../client/core/clock.ts";
import { START_MS } from "./harness.ts";

/** Timers that may run in one turn of the clock; more of them set themselves anew for ever. */
const RUNS_MAX = 100_000;

interface Timer {
  readonly dueMs: number;
  readonly run: () => void;
}

export class VirtualClock implements Clock {
  nowMs = START_MS;
  readonly #timers = new Set<Timer>();

  now(): number {
    return this.nowMs;
  }

  after(delayMs: number, run: () => void): () => void {
    const timer: Timer = { dueMs: this.nowMs + delayMs, run };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  /** How long until something is due; Infinity where nothing is. */
  get quietMs(): number {
    return (this.#next()?.dueMs ?? Infinity) - this.nowMs;
  }

  advance(ms: number): void {
    const endMs = this.nowMs + ms;
    for (let runs = 0; ; runs++) {
      const next = this.#next();
      if (!next || next.dueMs > endMs) break;
      if (runs > RUNS_MAX) throw new Error("a timer sets itself anew for ever");
      this.#timers.delete(next);
      this.nowMs = Math.max(this.nowMs, next.dueMs);
      next.run();
    }
    this.nowMs = endMs;
  }

  /** The earliest; of several the one that was set first. */
  #next(): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers) if (!next || timer.dueMs < next.dueMs) next = timer;
    return next;
  }
}
