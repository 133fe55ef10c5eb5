// Counts in memory: one number per series. Rooms and Workers send their counts to a lobby, which adds them up.
import { BUCKETS, isFailure, type HistogramName } from "./buckets.ts";

/**
 * Counts by series: a family's name, a colon and the values of its labels (`closed:ping timeout`, `wakes:alarm,ping`). A
 * histogram has a series per bucket, by the bucket's place, and one called `sum`.
 */
export type Counts = Readonly<Record<string, number>>;

/** Series of one meter at most, because a label may have too many values; further series are counted as `overflow`. */
export const SERIES_MAX = 500;
export const OVERFLOW = "overflow";

/** The series of each histogram: its buckets, the sum, and last the bucket without a bound. Each post is observed, so they are made once. */
const SERIES = new Map(
  Object.entries(BUCKETS).map(([histogram, bounds]) => [
    histogram,
    [...bounds.keys(), "sum", bounds.length].map((label) => `${histogram}:${label}`),
  ]),
);

export class Meter {
  readonly #seriesMax: number;
  #counts = new Map<string, number>();
  #hasFailures = false;

  constructor(seriesMax = SERIES_MAX) {
    this.#seriesMax = seriesMax;
  }

  /** Whether nothing was counted since the last `take`. */
  get isEmpty(): boolean {
    return this.#counts.size === 0;
  }

  /** Whether a refusal or a failure was counted since the last `take`. */
  get hasFailures(): boolean {
    return this.#hasFailures;
  }

  count(series: string, by = 1): void {
    const counted = this.#counts.get(series);
    if (counted === undefined && series !== OVERFLOW && this.#counts.size >= this.#seriesMax)
      return this.count(OVERFLOW);
    if (counted === undefined && isFailure(series)) this.#hasFailures = true;
    this.#counts.set(series, (counted ?? 0) + by);
  }

  /** @param value in the unit of the family */
  observe(histogram: HistogramName, value: number, times = 1): void {
    const series = SERIES.get(histogram)!;
    // -1 beyond the last bound
    const place = BUCKETS[histogram].findIndex((bound) => value <= bound);
    this.count(series.at(place)!, times);
    this.count(series.at(-2)!, value * times);
  }

  add(counts: Counts): void {
    for (const [series, by] of Object.entries(counts)) this.count(series, by);
  }

  /**
   * All counts so far, in the order in which their series began.
   * @param max series at most
   */
  read(max = Infinity): Counts {
    const counts: Record<string, number> = {};
    let left = max;
    // Runs with every input of a room: Object.fromEntries would make a list for each series.
    for (const [series, count] of this.#counts) {
      if (left-- <= 0) break;
      counts[series] = count;
    }
    return counts;
  }

  /** The same, and starts at 0 again. */
  take(): Counts {
    const counts = this.read();
    this.#counts = new Map();
    this.#hasFailures = false;
    return counts;
  }
}
