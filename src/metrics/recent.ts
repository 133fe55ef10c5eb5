// What a room used in the last hours: what is an hour old counts half, what is a day old next to nothing. Sums since the
// beginning name the rooms that were busy once.
import { MEASURED_MS_MIN } from "./cost.ts";
import type { Tally } from "./meter.ts";
import { addUsage, type UsageNumbers } from "./room-usage.ts";

export const HOUR_MS = 3_600_000;
const HALF_LIFE_MS = HOUR_MS;

export interface Recent {
  /** Milliseconds since 1970. */
  readonly atMs: number;
  /** As they counted then. */
  readonly numbers: UsageNumbers;
}

const left = (ms: number): number => 2 ** (-Math.max(0, ms) / HALF_LIFE_MS);

/** What of it counts now. Where the clock was set back, no less than it did. */
export function recentAt(recent: Recent | undefined, nowMs: number): UsageNumbers {
  if (!recent) return [];
  const share = left(nowMs - recent.atMs);
  return recent.numbers.map((number) => number * share);
}

export function addRecent(before: Recent | undefined, tally: Tally, nowMs: number): Recent {
  // To four digits: it is stored as text.
  const numbers = addUsage(recentAt(before, nowMs), tally).map((number) => Number(number.toPrecision(4)));
  return { atMs: nowMs, numbers };
}

/**
 * How many hours' worth of an even use count as recent: what is recent, divided by it, is a rate.
 * @param countedMs for how long the room is counted; its first minutes are no rate, and taken for ten
 */
export function recentHours(countedMs: number): number {
  return ((1 - left(Math.max(MEASURED_MS_MIN, countedMs))) * HALF_LIFE_MS) / Math.LN2 / HOUR_MS;
}
