// Counts the returning clients per quarter of a second, and how even the counts are.

export const SLICE_MS = 250;

export interface Arrivals {
  readonly count: number;
  /** In the fullest slice, and on average over the slices of the window that was given. */
  readonly peak: number;
  readonly mean: number;
  /** Arrivals per slice, from the drain on. */
  readonly slices: readonly number[];
  readonly lastMs: number;
}

/** @param atMs since the drain, one for each arrival */
export function arrivalsOf(atMs: readonly number[], withinMs: number): Arrivals {
  const lastMs = atMs.reduce((last, ms) => Math.max(last, ms), 0);
  const slices = Array.from({ length: Math.floor(lastMs / SLICE_MS) + 1 }, () => 0);
  for (const ms of atMs) slices[Math.floor(ms / SLICE_MS)]!++;
  const mean = atMs.length / Math.max(1, withinMs / SLICE_MS);
  return { count: atMs.length, peak: Math.max(...slices), mean, slices, lastMs };
}
