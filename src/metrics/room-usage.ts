// What one room has used so far, as few numbers: a lobby keeps them for each of its rooms, in the row that it writes for
// them anyway.
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

/** Which number a series adds to, by how it begins. */
const NUMBER_BY_BEGINNING: ReadonlyArray<readonly [beginning: string, name: keyof Usage]> = [
  ["posted", "posted"],
  ["delivered", "delivered"],
  // What comes by long-polling is billed as requests.
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
