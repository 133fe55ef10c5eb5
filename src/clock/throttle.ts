// Limits how often something is done: at once after quiet, then at most once per window. Used by all that gathers changes
// (posts, presence, read marks), reports or takes samples.
import type { Deadline } from "./deadlines.ts";
import { hasPassed } from "./has-passed.ts";

/** The last pass and the window behind it: plain data, which may outlive a sleep. */
export interface ThrottleState {
  /** Milliseconds since 1970. */
  readonly atMs: number;
  readonly windowMs: number;
}

export class Throttle {
  readonly #minMs: number;
  readonly #maxMs: number;
  #windowMs: number;
  #atMs = -Infinity;

  /** @param maxMs the window doubles up to this while it is in use, and falls back to `minMs` after quiet */
  constructor(minMs: number, maxMs = minMs) {
    this.#minMs = minMs;
    this.#maxMs = maxMs;
    this.#windowMs = minMs;
  }

  get state(): ThrottleState {
    return { atMs: this.#atMs, windowMs: this.#windowMs };
  }

  restore({ atMs, windowMs }: ThrottleState): void {
    this.#atMs = atMs;
    this.#windowMs = windowMs;
  }

  isOpen(nowMs: number): boolean {
    return hasPassed(this.#atMs, this.#windowMs, nowMs);
  }

  /** The end of the window, past or future; now, where the clock was set back. */
  dueMs(nowMs: number): number {
    return nowMs < this.#atMs ? nowMs : this.#atMs + this.#windowMs;
  }

  /** Begins a window. It is twice as long as the last one if that began less than two windows ago. */
  pass(nowMs: number): void {
    const isInUse = !hasPassed(this.#atMs, 2 * this.#windowMs, nowMs);
    this.#windowMs = isInUse ? Math.min(this.#maxMs, 2 * this.#windowMs) : this.#minMs;
    this.#atMs = nowMs;
  }

  /** Passes if the window is open. @returns whether it was */
  take(nowMs: number): boolean {
    if (!this.isOpen(nowMs)) return false;
    this.pass(nowMs);
    return true;
  }

  /** Ends the window. */
  reopen(): void {
    this.#atMs = -Infinity;
  }
}

/** Runs something on a throttle: at once after quiet, otherwise once for all requests of a window, when `deadline` is due. */
export class ThrottledRun {
  readonly #windowMs: number;
  readonly #throttle: Throttle;
  readonly #deadline: Deadline;
  readonly #run: () => void;

  /** @param deadline calls `flush` when it is due */
  constructor(windowMs: number, deadline: Deadline, run: () => void) {
    this.#windowMs = windowMs;
    this.#throttle = new Throttle(windowMs);
    this.#deadline = deadline;
    this.#run = run;
  }

  request(nowMs: number): void {
    const dueMs = this.#throttle.dueMs(nowMs);
    const isQuiet = nowMs >= dueMs && this.#deadline.atMs === undefined;
    // In a busy room a late run has requests queued behind it, and the deadline's timer lets them pass first. After another
    // window it runs without the timer, because a burst of input starves timers.
    if (isQuiet || nowMs >= dueMs + this.#windowMs) this.flush(nowMs);
    else this.#deadline.pull(Math.max(nowMs, dueMs));
  }

  /** Asks for a run a window from now, or together with one that is due sooner. */
  requestLater(nowMs: number): void {
    this.#deadline.pull(nowMs + this.#windowMs);
  }

  flush(nowMs: number): void {
    this.#deadline.clear();
    this.#throttle.pass(nowMs);
    this.#run();
  }
}
