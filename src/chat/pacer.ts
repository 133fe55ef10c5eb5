// Leading edge, then at most once per window: something quiet happens at once, something busy is gathered.
import type { Deadline } from "../socketio/deadlines.ts";

export class Pacer {
  readonly #windowMs: number;
  readonly #deadline: Deadline;
  readonly #run: () => void;
  #ranAtMs = -Infinity;

  /** @param deadline the one that calls `flush` of this pacer when it is due */
  constructor(windowMs: number, deadline: Deadline, run: () => void) {
    this.#windowMs = windowMs;
    this.#deadline = deadline;
    this.#run = run;
  }

  /** Asks for a run: now if the last one is a window ago, otherwise when it will be. */
  request(nowMs: number): void {
    const dueMs = this.#ranAtMs + this.#windowMs;
    // Asked at every request and not left to the timer alone: a burst of input starves timers.
    if (nowMs >= dueMs) this.flush(nowMs);
    else this.#deadline.pull(dueMs);
  }

  /** Asks for a run that is in no hurry: a window from now, or when one is due anyway. */
  requestLater(nowMs: number): void {
    this.#deadline.pull(nowMs + this.#windowMs);
  }

  flush(nowMs: number): void {
    this.#deadline.clear();
    this.#ranAtMs = nowMs;
    this.#run();
  }
}
