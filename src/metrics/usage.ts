// The usage of one room in few numbers, which a lobby keeps in the row that it writes for the room anyway. Recent usage weighs
// each hour half as much as the next one: sums since the beginning would show rooms that were busy once.
import { REPORT_AGAIN_MS } from "../protocol/room-list.ts";
import type { Counts } from "./meter.ts";

/** The numbers in the order in which they are stored: new ones come last. */
export const USAGE_NAMES = [
  "posted",
  "delivered",
  "framesIn",
  "bytesIn",
  "framesOut",
  "bytesOut",
  "opened",
  "requests",
  "rows",
  "alarmsSet",
  "alarms",
  "awakeMs",
  "wokenByConnect",
  "wokenByMessage",
  "wokenByClose",
  "wokenByAlarm",
  "wokenByCall",
  "wokenByWatch",
] as const;

export type Usage = Readonly<Record<(typeof USAGE_NAMES)[number], number>>;

/** In the order of `USAGE_NAMES`; one that is missing at the end is 0. */
export type UsageNumbers = readonly number[];

/** The number that a series adds to, by how the series begins. */
const NUMBER_BY_BEGINNING: ReadonlyArray<readonly [beginning: string, name: keyof Usage]> = [
  ["posted", "posted"],
  ["delivered", "delivered"],
  // Frames of long-polling are billed as requests.
  ["frames_in:websocket", "framesIn"],
  ["bytes_in", "bytesIn"],
  ["frames_out:", "framesOut"],
  ["bytes_out", "bytesOut"],
  ["opened:", "opened"],
  ["requests:", "requests"],
  ["requests:alarm", "alarms"],
  ["rows:", "rows"],
  ["alarms_set", "alarmsSet"],
  ["awake_ms", "awakeMs"],
  ["wakes:connect", "wokenByConnect"],
  // A request of a polling client is its message.
  ["wakes:poll", "wokenByMessage"],
  ["wakes:message", "wokenByMessage"],
  ["wakes:close", "wokenByClose"],
  ["wakes:alarm", "wokenByAlarm"],
  ["wakes:call", "wokenByCall"],
  ["wakes:watch", "wokenByWatch"],
];

export function addUsage(before: UsageNumbers, counts: Counts): UsageNumbers {
  const after = USAGE_NAMES.map((_name, place) => before[place] ?? 0);
  for (const [series, by] of Object.entries(counts)) {
    for (const [beginning, name] of NUMBER_BY_BEGINNING) {
      if (series.startsWith(beginning)) after[USAGE_NAMES.indexOf(name)]! += by;
    }
  }
  return after;
}

export function usageOf(numbers: UsageNumbers): Usage {
  const usage = {} as Record<keyof Usage, number>;
  for (const [place, name] of USAGE_NAMES.entries()) usage[name] = numbers[place] ?? 0;
  return usage;
}

/** Deliveries, and frames received. */
export const trafficOf = ({ delivered, framesIn }: Usage): number => delivered + framesIn;

export const wakesOf = (usage: Usage): number =>
  usage.wokenByConnect +
  usage.wokenByMessage +
  usage.wokenByClose +
  usage.wokenByAlarm +
  usage.wokenByCall +
  usage.wokenByWatch;

// ---- recently ----------------------------------------------------------------------------------------------

/** Of a shorter time nothing can be said about an hour or a month. */
export const MEASURED_MS_MIN = 600_000;

export const HOUR_MS = 3_600_000;
const HALF_LIFE_MS = HOUR_MS;

export interface RecentUsage {
  /** Milliseconds since 1970. */
  readonly atMs: number;
  /** Weighted as of then. */
  readonly numbers: UsageNumbers;
}

const weightAfter = (ms: number): number => 2 ** (-Math.max(0, ms) / HALF_LIFE_MS);

/** The numbers weighted as of now. A clock that was set back does not raise them. */
export function recentAt(recent: RecentUsage | undefined, nowMs: number): UsageNumbers {
  if (!recent) return [];
  const share = weightAfter(nowMs - recent.atMs);
  return recent.numbers.map((number) => number * share);
}

/** @param counts those since counts were last added */
export function addRecent(before: RecentUsage | undefined, counts: Counts, nowMs: number): RecentUsage {
  const share = meanShare(before ? nowMs - before.atMs : 0);
  const news = addUsage([], counts).map((number) => number * share);
  const known = recentAt(before, nowMs);
  // To six digits: it is stored as text, and a count must fade by more than the rounding between two reports.
  const numbers = news.map((number, place) => Number((number + (known[place] ?? 0)).toPrecision(6)));
  return { atMs: nowMs, numbers };
}

/**
 * The mean weight of an even use in the time that has just passed. A room that is awake reports twice an hour (LOB-4): before that, it
 * slept.
 */
function meanShare(passedMs: number): number {
  const halfLives = Math.min(passedMs, REPORT_AGAIN_MS) / HALF_LIFE_MS;
  return halfLives <= 0 ? 1 : (1 - 2 ** -halfLives) / (halfLives * Math.LN2);
}

/**
 * How many hours' worth of an even use count as recent: recent use, divided by it, is a rate.
 * @param countedMs for how long the room is counted; its first minutes are no rate, and taken for ten
 */
export function recentHours(countedMs: number): number {
  return ((1 - weightAfter(Math.max(MEASURED_MS_MIN, countedMs))) * HALF_LIFE_MS) / Math.LN2 / HOUR_MS;
}
