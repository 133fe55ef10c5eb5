// The counting port of the core: where sessions, frames and closings are counted. Implemented by src/metrics/meter.ts.

export interface Meter {
  /** @param series a family's name, a colon and the values of its labels */
  count(series: string, by?: number): void;
  /** Adds a value to a histogram. */
  observe(histogram: "unread", value: number): void;
}

/** Counts nothing: for servers without metrics. */
export const NO_METER: Meter = { count: () => {}, observe: () => {} };
