// Work that a namespace repeats while it has sockets. Its moments are a period apart, on a grid of the object, so neither lateness nor sleep moves
// them. Made by namespace.ts; hub.ts calls it when the first socket comes and the last one goes.
import type { Deadline } from "../../clock/deadlines.ts";

/** The object is woken so much before a run: a new instance cannot know of a moment that has passed whether the last one ran. */
const EARLY_MS = 1000;

interface IntervalParts {
  readonly ms: number;
  /** Of the server, from 0 to below 1: objects with the same period run at different moments. */
  readonly phase: number;
  /** Runs the work, and reports its failure. @returns a promise while it goes on */
  readonly run: (nowMs: number) => void | Promise<void>;
}

export class Interval {
  readonly #parts: IntervalParts;
  readonly #deadline: Deadline;
  /** The next run, in milliseconds since 1970. */
  #dueMs = 0;
  #isBusy = false;

  /** @param deadline calls `fire` */
  constructor(parts: IntervalParts, deadline: Deadline) {
    this.#parts = parts;
    this.#deadline = deadline;
  }

  begin(nowMs: number): void {
    const { ms, phase } = this.#parts;
    const shiftMs = Math.floor(phase * ms);
    const count = Math.floor((nowMs - shiftMs) / ms) + 1;
    const atMs = (periods: number): number => Math.round(shiftMs + periods * ms);
    // It may round to this very moment.
    this.#dueMs = atMs(count) > nowMs ? atMs(count) : atMs(count + 1);
    this.#wait(nowMs);
  }

  end(): void {
    this.#deadline.clear();
  }

  #wait(nowMs: number): void {
    const earlyMs = this.#dueMs - EARLY_MS;
    this.#deadline.set(earlyMs > nowMs ? earlyMs : this.#dueMs);
  }

  fire(nowMs: number): void {
    if (nowMs < this.#dueMs) return this.#wait(nowMs);
    this.begin(nowMs);
    if (this.#isBusy) return;
    const running = this.#parts.run(nowMs);
    if (!running) return;
    this.#isBusy = true;
    void running.then(() => (this.#isBusy = false));
  }
}
