// The output gate of one object: a frame leaves once all earlier writes are durable. Called by object-host.ts.

/** Something to let out. */
interface Held {
  /** The group of writes that it waits for. */
  readonly after: number | undefined;
  readonly run: () => void;
}

export class OutputGate {
  #held: Held[] = [];

  get size(): number {
    return this.#held.length;
  }

  /** @param after the youngest group of writes that is not durable yet, if there is any */
  pass(after: number | undefined, run: () => void): void {
    if (after === undefined && this.#held.length === 0) run();
    else this.#held.push({ after, run });
  }

  /** A group is durable. */
  open(group: number): void {
    while (this.#held.length > 0 && (this.#held[0]!.after ?? -1) <= group) this.#held.shift()!.run();
  }

  /** The object died: nothing of it leaves any more. */
  clear(): void {
    this.#held = [];
  }
}
