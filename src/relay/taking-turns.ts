// Splits long work into turns of a few milliseconds, so that other rooms on the same thread are served in between. Used
// wherever one object calls many others.

/** The length of a turn in milliseconds. A message of another room may wait for a few of them on its way. */
export const TURN_MS = 4;

/** Steps of a turn at most; calls to objects on other machines take next to no time here. */
export const TURN_STEPS_MAX = 8;

export interface TurnPorts {
  /** Resolves once all other waiting work has had its turn. */
  readonly giveWay: () => Promise<void>;
  /** In milliseconds. */
  readonly now: () => number;
}

export class TakingTurns {
  readonly #ports: TurnPorts;
  #steps = 1;
  #left = 1;
  #beganAtMs: number;
  /** Callers wait in a row. */
  #last: Promise<void> = Promise.resolve();

  constructor(ports: TurnPorts) {
    this.#ports = ports;
    this.#beganAtMs = ports.now();
  }

  /** Resolves when the caller may take a step. */
  next(): Promise<void> {
    return (this.#last = this.#last.then(() => this.#step()));
  }

  async #step(): Promise<void> {
    if (this.#left === 0) {
      const { giveWay, now } = this.#ports;
      await giveWay();
      // The time includes all that the steps caused on this thread: it is done by now.
      const tookMs = now() - this.#beganAtMs;
      if (tookMs > 2 * TURN_MS) this.#steps = Math.max(1, Math.floor(this.#steps / 2));
      else if (tookMs < TURN_MS) this.#steps = Math.min(TURN_STEPS_MAX, this.#steps + 1);
      this.#left = this.#steps;
      this.#beganAtMs = now();
    }
    this.#left--;
  }
}
