// Computes the wait before a retry. Called by the courier of a room and the consumers of queues.

export interface Backoff {
  /** The wait after the first failure. */
  readonly first: number;
  /** The wait doubles with each further failure, up to this. */
  readonly max: number;
}

/** @param failures in a row, at least 1; @returns the wait, in the unit of `first` and `max` */
export function waitAfter({ first, max }: Backoff, failures: number): number {
  return Math.min(max, first * 2 ** (failures - 1));
}
