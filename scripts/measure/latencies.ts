// Latencies in microseconds, each known to one percent: the histograms of Node. Called by tally.ts, reading.ts and run-report.ts.
import { createHistogram, type RecordableHistogram } from "node:perf_hooks";

const US_MAX = 3_600_000_000;
const US_PER_MS = 1000;
/** Shares of the curve that shows the tail: each step a tenth closer to all. */
const CURVE = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.995, 0.999, 0.9995, 0.9999, 0.99999, 1];

export interface Percentiles {
  readonly count: number;
  readonly p50Ms: number;
  readonly p90Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  readonly maxMs: number;
}

export class Latencies {
  readonly #histogram: RecordableHistogram = createHistogram({ lowest: 1, highest: US_MAX, figures: 2 });

  add(us: number): void {
    this.#histogram.record(Math.min(US_MAX, Math.max(1, Math.round(us))));
  }

  reset(): void {
    this.#histogram.reset();
  }

  /** @returns 0 if nothing was measured: JSON has no NaN */
  ms(share: number): number {
    return this.#histogram.count === 0 ? 0 : this.#histogram.percentile(share * 100) / US_PER_MS;
  }

  get percentiles(): Percentiles {
    return {
      count: this.#histogram.count,
      p50Ms: this.ms(0.5),
      p90Ms: this.ms(0.9),
      p95Ms: this.ms(0.95),
      p99Ms: this.ms(0.99),
      p999Ms: this.ms(0.999),
      maxMs: this.ms(1),
    };
  }

  get curve(): Array<[share: number, ms: number]> {
    return CURVE.map((share) => [share, this.ms(share)]);
  }
}
