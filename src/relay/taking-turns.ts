// Work in turns, for whoever shares a thread: so much at once that a turn takes about as long as the others may wait for theirs.

/** What a turn should take, in milliseconds: what somebody else's message may wait for, a few times on its way. */
export const TURN_MS = 4;

/** Steps of a turn, where they take next to nothing here, as calls to objects elsewhere. */
export const TURN_STEPS_MAX = 8;

export interface TurnPorts {
  /** Resolves once whatever else is waiting has had its turn. */
  readonly giveWay: () => Promise<void>;
  /** In milliseconds. */
  readonly now: () => number;
}

export class TakingTurns {
  readonly #ports: TurnPorts;
  #steps = 1;
  #left = 1;
  #beganAtMs: number;
  /** Those who wait come one after the other. */
  #last: Promise<void> = Promise.resolve();

  constructor(ports: TurnPorts) {
    this.#ports = ports;
    this.#beganAtMs = ports.now();
  }

  /** Resolves when it is the caller's turn to take a step. */
  next(): Promise<void> {
    return (this.#last = this.#last.then(() => this.#step()));
  }

  async #step(): Promise<void> {
    if (this.#left === 0) await this.#endTurn();
    this.#left--;
  }

  async #endTurn(): Promise<void> {
    const { giveWay, now } = this.#ports;
    await giveWay();
    // What the steps set off here is through as well, else it would not be our turn again.
    const tookMs = now() - this.#beganAtMs;
    if (tookMs > 2 * TURN_MS) this.#steps = Math.max(1, Math.floor(this.#steps / 2));
    else if (tookMs < TURN_MS) this.#steps = Math.min(TURN_STEPS_MAX, this.#steps + 1);
    this.#left = this.#steps;
    this.#beganAtMs = now();
  }
}
