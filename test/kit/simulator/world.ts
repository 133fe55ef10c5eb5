// Virtual time: one queue of events, each of which belongs to a zone (a room, a client) with a clock of its own. What the
// product takes from its runtime, clock, timers, chance and ids, comes from here.
import { webcrypto } from "node:crypto";
import process from "node:process";

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
    await new Promise((resolve) => turnOfTheLoop(resolve));
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

let current: World | undefined;

/** The world that the runtime's functions belong to from now on. */
export function enter(world: World): void {
  current = world;
}

/** Something that must not happen has happened in the world that is running. */
export const noteTrouble = (error: unknown): void => current?.onError(error);

const world = (): World => {
  if (!current) throw new Error("no world is running");
  return current;
};

/** Puts virtual time in place of the real one, for the whole thread. */
export function replaceRuntime(fetch: typeof globalThis.fetch): void {
  const fill = (bytes: Uint8Array): Uint8Array => {
    const { chance } = world().zone;
    for (let at = 0; at < bytes.length; at++) bytes[at] = chance.between(0, 255);
    return bytes;
  };
  const hex = (count: number): string => Buffer.from(fill(new Uint8Array(count))).toString("hex");
  const randomUUID = (): string => [hex(4), hex(2), hex(2), hex(2), hex(6)].join("-");
  Date.now = () => current?.clock() ?? START_MS;
  Math.random = () => world().zone.chance.next();
  Object.assign(globalThis, {
    setTimeout: (run: (...args: unknown[]) => void, delayMs = 0, ...args: unknown[]) =>
      world().setTimer(() => run(...args), delayMs),
    clearTimeout: (id: number | undefined) => id !== undefined && world().clearTimer(id),
    fetch,
  });
  const crypto = { subtle: webcrypto.subtle, getRandomValues: fill, randomUUID };
  Object.defineProperty(globalThis, "crypto", { value: crypto, configurable: true });
  process.on("unhandledRejection", noteTrouble);
  process.on("uncaughtException", noteTrouble);
}
