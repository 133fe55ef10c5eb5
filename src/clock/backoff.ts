// Computes the wait before another try. Called by whatever retries: the courier of a room, the consumers of queues.

export interface Backoff {
  /** The wait after the first failure; … */
  readonly first: number;
  /** … it doubles with each further one, up to this. */
  readonly max: number;
}

/** @param failures in a row, at least 1; @returns the wait, in the unit of `first` and `max` */
export function waitAfter({ first, max }: Backoff, failures: number): number {
  return Math.min(max, first * 2 ** (failures - 1));
}
