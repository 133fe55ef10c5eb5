// A source of state that several parts of an application use at the same time, open while one of them holds it. shared-rooms.ts and the hooks
// of client/react make such of rooms, and of the list of a user's rooms; this file knows no framework.
import type { Clock } from "../core/clock.ts";

interface Source<State> {
  readonly subscribe: (listener: () => void) => () => void;
  readonly getSnapshot: () => State;
  close(): void;
}

export class Shared<State, Opened extends Source<State>> {
  protected readonly clock: Clock;
  protected current: Opened | undefined;
  readonly #open: () => Opened;
  readonly #listeners = new Set<() => void>();
  #holders = 0;
  #lastState: State;

  /** @param first the state before it is opened */
  constructor(open: () => Opened, first: State, clock: Clock) {
    this.#open = open;
    this.#lastState = first;
    this.clock = clock;
  }

  /**
   * Keeps it open until the returned function is called. The last one closes it, a moment later: another holder may come in the same turn, as in
   * React's strict mode.
   */
  hold(): () => void {
    this.#holders += 1;
    void this.opened;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#holders -= 1;
      this.#closeUnused();
    };
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    const one = (): void => listener();
    this.#listeners.add(one);
    return () => void this.#listeners.delete(one);
  };

  /** Once it is closed, the last state, until it is opened again. */
  readonly getSnapshot = (): State => this.current?.getSnapshot() ?? this.#lastState;

  /** Opened by the first use. Effects of children run before those of their parents, which hold it. */
  get opened(): Opened {
    if (this.current) return this.current;
    this.current = this.#open();
    this.current.subscribe(() => this.#tell());
    queueMicrotask(() => this.#tell());
    this.#closeUnused();
    return this.current;
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }

  #closeUnused(): void {
    if (this.#holders > 0) return;
    this.clock.after(0, () => {
      if (this.#holders > 0 || !this.current) return;
      this.#lastState = this.current.getSnapshot();
      this.current.close();
      this.current = undefined;
    });
  }
}
