// How often something may be done that costs: at once after quiet, and the more seldom the longer it goes on.

/** When it was last done, and how long it has to wait from then on. */
export interface WindowState {
  /** Milliseconds since 1970. */
  readonly atMs: number;
  readonly windowMs: number;
}

export class GrowingWindow {
  readonly #minMs: number;
  readonly #maxMs: number;
  #atMs = -Infinity;
  #windowMs: number;

  constructor({ minMs, maxMs }: { readonly minMs: number; readonly maxMs: number }) {
    this.#minMs = minMs;
    this.#maxMs = maxMs;
    this.#windowMs = minMs;
  }

  get state(): WindowState {
    return { atMs: this.#atMs, windowMs: this.#windowMs };
  }

  restore({ atMs, windowMs }: WindowState): void {
    this.#atMs = atMs;
    this.#windowMs = windowMs;
  }

  /** From when on it may be done, in milliseconds since 1970; not far from now, also where the clock was set back. */
  dueMs(nowMs: number): number {
    return Math.min(this.#atMs, nowMs) + this.#windowMs;
  }

  /** Also where the clock was set back since it was last done. */
  isOpen(nowMs: number): boolean {
    return nowMs >= this.#atMs + this.#windowMs || nowMs < this.#atMs;
  }

  /** It is done now. Within two windows of the last time it is going on, and the next window is twice as long. */
  pass(nowMs: number): void {
    const isGoingOn = nowMs - this.#atMs < 2 * this.#windowMs;
    this.#windowMs = isGoingOn ? Math.min(this.#maxMs, 2 * this.#windowMs) : this.#minMs;
    this.#atMs = nowMs;
  }
}
