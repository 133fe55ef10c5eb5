// Merges the reports of the load test's processes, per second and in total.
import { Histogram } from "../measuring/statistics.ts";
import type { CrewListener } from "./worker-pool.ts";
import type { SecondReport } from "./messages.ts";
import type { Percentiles, SecondRow } from "./report.ts";

const US_PER_MS = 1000;
/** Shares of the curve that shows the tail: each step a tenth closer to all. */
const CURVE = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.995, 0.999, 0.9995, 0.9999, 0.99999, 1];

class MergedSecond {
  posts = 0;
  acks = 0;
  deliveries = 0;
  errors = 0;
  connected = 0;
  readonly delivery = new Histogram();
  readonly ack = new Histogram();
}

export class Series implements CrewListener {
  readonly delivery = new Histogram();
  readonly ack = new Histogram();
  readonly #seconds = new Map<number, MergedSecond>();
  readonly #connected = new Map<number, number>();
  readonly #secondNow: () => number;

  /** @param secondNow the run's second */
  constructor(secondNow: () => number) {
    this.#secondNow = secondNow;
  }

  get connected(): number {
    return [...this.#connected.values()].reduce((sum, count) => sum + count, 0);
  }

  /** Of the last second that is complete. */
  get latest(): SecondRow | undefined {
    return this.rows.at(-2);
  }

  ticked(worker: number, connected: number, seconds: readonly SecondReport[]): void {
    this.#connected.set(worker, connected);
    this.#at(Math.max(0, Math.trunc(this.#secondNow()))).connected = this.connected;
    for (const report of seconds) this.#merge(report);
  }

  #at(second: number): MergedSecond {
    let merged = this.#seconds.get(second);
    if (!merged) this.#seconds.set(second, (merged = new MergedSecond()));
    return merged;
  }

  #merge({ second, posts, acks, deliveries, errors, delivery, ack }: SecondReport): void {
    const merged = this.#at(second);
    merged.posts += posts;
    merged.acks += acks;
    merged.deliveries += deliveries;
    merged.errors += errors;
    merged.delivery.merge(delivery);
    merged.ack.merge(ack);
    this.delivery.merge(delivery);
    this.ack.merge(ack);
  }

  get rows(): SecondRow[] {
    return [...this.#seconds]
      .sort(([a], [b]) => a - b)
      .map(([second, { delivery, ack, ...counts }]) => ({
        second,
        ...counts,
        p50Ms: msAt(delivery, 0.5),
        p95Ms: msAt(delivery, 0.95),
        p99Ms: msAt(delivery, 0.99),
        maxMs: msAt(delivery, 1),
        ackP99Ms: msAt(ack, 0.99),
      }));
  }

  get curve(): Array<[share: number, ms: number]> {
    return CURVE.map((share) => [share, msAt(this.delivery, share)]);
  }
}

/** 0 where nothing was measured: JSON has no NaN. */
function msAt(histogram: Histogram, share: number): number {
  const us = histogram.percentile(share);
  return Number.isNaN(us) ? 0 : us / US_PER_MS;
}

export function percentilesOf(histogram: Histogram): Percentiles {
  return {
    count: histogram.count,
    p50Ms: msAt(histogram, 0.5),
    p90Ms: msAt(histogram, 0.9),
    p95Ms: msAt(histogram, 0.95),
    p99Ms: msAt(histogram, 0.99),
    p999Ms: msAt(histogram, 0.999),
    maxMs: msAt(histogram, 1),
  };
}
