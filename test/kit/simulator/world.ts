// Virtual time: one queue of events, each of which belongs to a zone (an object, a client) with a clock of its own. runtime.ts gives
// clock, timers and randomness of the running world to everything in the thread.
import { Chance } from "./chance.ts";

/** When every run begins, in ms since 1970. */
export const START_MS = Date.UTC(2026, 0, 1);

/** Events of one run at most: more of them are something that never rests. */
const EVENTS_MAX = 400_000;

const turnOfTheLoop = setImmediate;

/** Something with a clock of its own, whose timers end with it. */
export class Zone {
  readonly name: string;
  readonly chance: Chance;
  /** How far its clock is ahead. */
  skewMs = 0;
  isOver = false;
  readonly timers = new Set<number>();
  /** No timer fires before this, in ms since 1970. */
  timersFromMs = 0;

  constructor(name: string, chance: Chance) {
    this.name = name;
    this.chance = chance;
  }
}

interface Event {
  readonly atMs: number;
  readonly order: number;
  readonly zone: Zone;
  readonly run: () => unknown;
  isCancelled: boolean;
}

export class World {
  nowMs = START_MS;
  readonly chance: Chance;
  readonly nowhere: Zone;
  zone: Zone;
  /** Called when an event and all that follows at once is over. */
  afterEvent: () => void = () => {};
  onError: (error: unknown) => void = () => {};
  events = 0;
  readonly #heap: Event[] = [];
  readonly #timers = new Map<number, Event>();
  #order = 0;
  #timerIds = 0;
  #unsettled = 0;

  constructor(seed: number) {
    this.chance = new Chance(seed);
    this.nowhere = this.makeZone("nowhere");
    this.zone = this.nowhere;
  }

  makeZone(name: string): Zone {
    return new Zone(name, this.chance.branch(name));
  }

  /** The wall clock of the current zone. */
  clock(): number {
    return Math.floor(this.nowMs + this.zone.skewMs);
  }

  within<Result>(zone: Zone, run: () => Result): Result {
    const before = this.zone;
    this.zone = zone;
    try {
      return run();
    } finally {
      this.zone = before;
    }
  }

  at(atMs: number, zone: Zone, run: () => unknown): Event {
    const event = { atMs: Math.max(atMs, this.nowMs), order: this.#order++, zone, run, isCancelled: false };
    this.#push(event);
    return event;
  }

  after(delayMs: number, zone: Zone, run: () => unknown): Event {
    return this.at(this.nowMs + delayMs, zone, run);
  }

  setTimer(run: () => void, delayMs: number): number {
    const { zone } = this;
    const id = ++this.#timerIds;
    const fire = (): void => {
      // Late, in the order in which they were due.
      if (this.nowMs < zone.timersFromMs) return void this.#timers.set(id, this.at(zone.timersFromMs, zone, fire));
      this.#timers.delete(id);
      zone.timers.delete(id);
      run();
    };
    this.#timers.set(id, this.after(Math.max(0, delayMs), zone, fire));
    zone.timers.add(id);
    return id;
  }

  clearTimer(id: number): void {
    const event = this.#timers.get(id);
    if (!event) return;
    event.isCancelled = true;
    event.zone.timers.delete(id);
    this.#timers.delete(id);
  }

  /** The event goes on until this work of the thread, as of a signature, is done. */
  waitFor<Result>(work: Promise<Result>): Promise<Result> {
    this.#unsettled++;
    const settle = (): void => void this.#unsettled--;
    work.then(settle, settle);
    return work;
  }

  /** Nothing of this zone happens any more. */
  end(zone: Zone): void {
    zone.isOver = true;
    for (const id of zone.timers) this.clearTimer(id);
  }

  /** Runs all events that are due by then. */
  async runUntil(endMs: number): Promise<void> {
    for (;;) {
      const next = this.#heap[0];
      if (!next || next.atMs > endMs) break;
      this.#pop();
      if (next.isCancelled || next.zone.isOver) continue;
      if (++this.events > EVENTS_MAX) throw new Error(`more than ${EVENTS_MAX} events: something never rests`);
      await this.#run(next);
    }
    this.nowMs = Math.max(this.nowMs, endMs);
  }

  async #run({ atMs, zone, run }: Event): Promise<void> {
    this.nowMs = atMs;
    this.zone = zone;
    try {
      run();
    } catch (error) {
      this.onError(error);
    }
    // Everything that only waits for promises happens in this event, and in its zone.
    do await new Promise((resolve) => turnOfTheLoop(resolve));
    while (this.#unsettled > 0);
    this.afterEvent();
  }

  #push(event: Event): void {
    const heap = this.#heap;
    let at = heap.push(event) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(event, heap[parent]!)) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = event;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop()!;
    if (heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++;
      if (!isBefore(heap[child]!, last)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
  }
}

const isBefore = (a: Event, b: Event): boolean => a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
