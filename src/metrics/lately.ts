// How much a room did lately, in one number: what is an hour old counts half, what is a day old next to nothing. Sums since the
// beginning would name the rooms that were busy once.

const HALF_LIFE_MS = 3_600_000;

export interface Lately {
  /** Milliseconds since 1970. */
  readonly atMs: number;
  /** As it counted then. */
  readonly amount: number;
}

/** What of it counts now. Where the clock was set back, no less than it did. */
export function latelyAt(lately: Lately | undefined, nowMs: number): number {
  if (!lately) return 0;
  return lately.amount * 2 ** (-Math.max(0, nowMs - lately.atMs) / HALF_LIFE_MS);
}

export function addLately(before: Lately | undefined, amount: number, nowMs: number): Lately {
  // To the hundredth: it is stored as text.
  return { atMs: nowMs, amount: Math.round((latelyAt(before, nowMs) + amount) * 100) / 100 };
}
