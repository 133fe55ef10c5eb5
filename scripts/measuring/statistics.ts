// Medians, spreads, and percentiles from a histogram. Called by the measuring scripts.

export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** @returns NaN for no numbers */
export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? NaN) + upper) / 2;
}

export function spreadOf(numbers: readonly number[]): Spread {
  return { median: median(numbers), min: Math.min(...numbers), max: Math.max(...numbers) };
}

/** Values up to here have a bucket each; above, every power of two is split into this many. */
const SUB_BUCKETS = 64;
const SUB_BITS = Math.log2(SUB_BUCKETS);
const BUCKETS = (32 - SUB_BITS) * SUB_BUCKETS;

/** Whole numbers from 0 to 2^31, each known to 1.6 %, in constant memory: a measured second may bring a million. */
export class Histogram {
  readonly #counts = new Uint32Array(BUCKETS);
  count = 0;

  add(value: number): void {
    this.#counts[bucketOf(value)]!++;
    this.count++;
  }

  /** The samples, as bucket and count, for another process to merge. */
  get entries(): ReadonlyArray<readonly [bucket: number, count: number]> {
    const entries: Array<readonly [number, number]> = [];
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      const count = this.#counts[bucket]!;
      if (count > 0) entries.push([bucket, count]);
    }
    return entries;
  }

  merge(entries: ReadonlyArray<readonly [bucket: number, count: number]>): void {
    for (const [bucket, count] of entries) {
      this.#counts[bucket]! += count;
      this.count += count;
    }
  }

  /** @param share 0.5 for the median; NaN where nothing was added */
  percentile(share: number): number {
    let left = Math.max(1, Math.ceil(this.count * share));
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      left -= this.#counts[bucket]!;
      if (left <= 0) return middleOf(bucket);
    }
    return NaN;
  }
}

function bucketOf(value: number): number {
  if (value < SUB_BUCKETS) return Math.max(0, Math.trunc(value));
  const shift = 31 - Math.clz32(value) - SUB_BITS;
  return Math.min(BUCKETS - 1, (shift + 1) * SUB_BUCKETS + ((value >>> shift) & (SUB_BUCKETS - 1)));
}

function middleOf(bucket: number): number {
  if (bucket < SUB_BUCKETS) return bucket;
  const shift = Math.trunc(bucket / SUB_BUCKETS) - 1;
  return (SUB_BUCKETS + (bucket % SUB_BUCKETS) + 0.5) * 2 ** shift;
}
