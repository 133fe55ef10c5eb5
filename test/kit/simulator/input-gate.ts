// The input gate of one object: while `blockConcurrencyWhile` runs, nothing else comes in. Called by object-host.ts.
import type { World, Zone } from "./world.ts";

export class InputGate {
  readonly #world: World;
  #blocks = 0;
  #held: Array<() => void> = [];

  constructor(world: World) {
    this.#world = world;
  }

  get isBusy(): boolean {
    return this.#blocks + this.#held.length > 0;
  }

  /** Events that came while the object was blocked stay in front of later ones. */
  pass(run: () => void): void {
    if (this.isBusy) this.#held.push(run);
    else run();
  }

  /**
   * As in workerd: `run` begins once the constructors of all subclasses have run, and the microtasks that they queued before.
   * @param zone of the present incarnation of the object
   * @param onFailure called when `run` fails
   */
  block<Result>(zone: Zone, run: () => Promise<Result>, onFailure: (error: unknown) => void): Promise<Result> {
    this.#blocks++;
    // An object whose constructor has thrown runs nothing any more.
    const running = Promise.resolve().then(() => (zone.isOver ? new Promise<never>(() => {}) : run()));
    running.catch((error: unknown) => zone.isOver || onFailure(error));
    return running.finally(() => {
      if (zone.isOver) return;
      this.#blocks--;
      if (this.#blocks === 0) this.#letIn(zone);
    });
  }

  /** Lets the held events in, each as an event of its own. */
  #letIn(zone: Zone): void {
    if (this.#held.length === 0) return;
    this.#world.at(this.#world.nowMs, zone, () => {
      if (this.#blocks > 0) return;
      this.#held.shift()?.();
      this.#letIn(zone);
    });
  }

  /** The object died. */
  clear(): void {
    this.#held = [];
    this.#blocks = 0;
  }
}
