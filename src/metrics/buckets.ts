// The buckets of histograms, and the series that count failures: apart from families.ts, because a meter needs no more. exposition.ts needs the
// buckets, too.

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Upper bounds, ascending; beyond the last one comes +Inf. */
export const BUCKETS = {
  batch: [1, 2, 4, 8, 16, 32, 64],
  commit: SECONDS,
  delivery: SECONDS,
  verdict: SECONDS,
  unread: [65_536, 262_144, 1_048_576, 4_194_304, 8_388_608, 16_777_216, 33_554_432, 67_108_864],
  shard_waiting: [1000, 10_000, 100_000, 250_000, 500_000, 1_000_000, 2_000_000, 4_000_000],
  relay_lag: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 3600],
} as const;

export type HistogramName = keyof typeof BUCKETS;

/** Whether a series counts refusals or failures, which are a reason for a report (MET-2). */
export const isFailure = (series: string): boolean => /^(?:rejects|problems):|^connects:(?!accepted$)/.test(series);
