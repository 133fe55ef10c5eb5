// What the room has counted and the lobby has not heard of: it goes along with the next report, once. A report that was
// lost, or only its answer, is told again under the same number, so that the lobby can tell it from a new one (MET-2).
import type { Meter, Counts } from "../../metrics/meter.ts";
import type { CounterDelta } from "../../protocol/room-list.ts";
import type { ThrottleState } from "../../clock/throttle.ts";
import { Window } from "../../clock/window.ts";

/** Series that are remembered through sleep: some 3 KB of the connection that carries them. More of them are lost in it. */
export const KEPT_SERIES_MAX = 96;

/**
 * How often what is counted is remembered, a few microseconds each time: with each input in most rooms. What a busier one
 * counted since is lost if it falls asleep.
 */
export const KEPT_PER_SECOND = 10;

/** Deltas that are told again along with a new one. While there are so many, what is counted waits. */
export const TOLD_MAX = 4;

/** As it is kept on a connection. */
export interface KeptDelta {
  readonly lastId: number;
  /** What was told and may not have arrived. */
  readonly told: readonly CounterDelta[];
  readonly counts: Counts;
}

/** What is remembered of reports through sleep, on one of the connections: it costs no row. */
export interface Reported extends ThrottleState {
  /** Whether something has changed since. */
  readonly isOwed?: true;
  /** While reports fail: how often one did, and when it is tried again, in milliseconds since 1970. */
  readonly failing?: { readonly times: number; readonly retryAtMs: number };
  /** How many were connected by the latest report. */
  readonly connections?: number;
  /** When to see whether there is something to tell, where nothing is owed: milliseconds since 1970. */
  readonly alongAtMs?: number;
  readonly delta?: KeptDelta;
  /** Whether the lobby wants to know who is there. */
  readonly wantsPeople?: true;
}

export class Unreported {
  readonly #meter: Meter;
  #lastId = 0;
  #told: readonly CounterDelta[] = [];
  readonly #second = new Window(1000);

  constructor(meter: Meter) {
    this.#meter = meter;
  }

  /** Whether somebody should hear of it soon. */
  get hasTrouble(): boolean {
    return this.#meter.hasTrouble;
  }

  /** What is to be told now: what was told before and may not have arrived, and what was counted since. */
  take(nowMs: number): readonly CounterDelta[] {
    if (this.#meter.isEmpty || this.#told.length >= TOLD_MAX) return this.#told;
    this.#lastId = Math.max(nowMs, this.#lastId + 1);
    this.#told = [...this.#told, { id: this.#lastId, counts: this.#meter.take() }];
    return this.#told;
  }

  /** What was told has arrived. */
  arrived(): void {
    this.#told = [];
  }

  /** All that the lobby may not know. */
  read(): { readonly told: readonly CounterDelta[]; readonly counts: Counts } {
    return { told: this.#told, counts: this.#meter.read() };
  }

  /** Whether it is time to remember it: that costs no row. */
  isDue(nowMs: number): boolean {
    return !this.#meter.isEmpty && this.#second.count("", nowMs) <= KEPT_PER_SECOND;
  }

  record(): KeptDelta | undefined {
    if (this.#lastId === 0 && this.#meter.isEmpty) return undefined;
    let space = KEPT_SERIES_MAX;
    const few = (counts: Counts): Counts => {
      const kept = Object.entries(counts).slice(0, space);
      space -= kept.length;
      return Object.fromEntries(kept);
    };
    const told = this.#told.map(({ id, counts }) => ({ id, counts: few(counts) }));
    return { lastId: this.#lastId, told, counts: few(this.#meter.read()) };
  }

  restore({ lastId, told, counts }: KeptDelta): void {
    this.#lastId = lastId;
    this.#told = told;
    this.#meter.add(counts);
  }
}
