// What a room used in the last hours: what is an hour old counts half, what is a day old next to nothing. Sums since the
// beginning name the rooms that were busy once.
import { REPORT_AGAIN_MS } from "../protocol/room-list.ts";
import { MEASURED_MS_MIN } from "./cost.ts";
import type { Counts } from "./meter.ts";
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

/** @param counts what was counted since the last one was added */
export function addRecent(before: Recent | undefined, counts: Counts, nowMs: number): Recent {
  const share = meanShare(before ? nowMs - before.atMs : 0);
  const news = addUsage([], counts).map((number) => number * share);
  const known = recentAt(before, nowMs);
  // To six digits: it is stored as text, and what fades away between two reports must not be less than that.
  const numbers = news.map((number, place) => Number((number + (known[place] ?? 0)).toPrecision(6)));
  return { atMs: nowMs, numbers };
}

/** What counts of an even use in the time that has just passed. A room that is awake says so twice an hour (LOB-4): what was before, it slept. */
function meanShare(passedMs: number): number {
  const halfLives = Math.min(passedMs, REPORT_AGAIN_MS) / HALF_LIFE_MS;
  return halfLives <= 0 ? 1 : (1 - 2 ** -halfLives) / (halfLives * Math.LN2);
}

/**
 * How many hours' worth of an even use count as recent: what is recent, divided by it, is a rate.
 * @param countedMs for how long the room is counted; its first minutes are no rate, and taken for ten
 */
export function recentHours(countedMs: number): number {
  return ((1 - left(Math.max(MEASURED_MS_MIN, countedMs))) * HALF_LIFE_MS) / Math.LN2 / HOUR_MS;
}
