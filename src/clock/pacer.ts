// Leading edge, then at most once per window: something quiet happens at once, something busy is gathered.
import type { Deadline } from "./deadlines.ts";

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

  /** Asks for a run: now if nobody asked within a window of the last run, otherwise when that window is over. */
  request(nowMs: number): void {
    const dueMs = this.#ranAtMs + this.#windowMs;
    const isQuiet = nowMs >= dueMs && this.#deadline.atMs === undefined;
    // A run that is late in a busy room has requests queued behind it, which the deadline's timer lets pass first;
    // but not for long, because a burst of input starves timers.
    if (isQuiet || nowMs >= dueMs + this.#windowMs) this.flush(nowMs);
    // No later than a window from now, also where the clock was set back since the last run.
    else this.#deadline.pull(Math.max(nowMs, Math.min(dueMs, nowMs + this.#windowMs)));
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
