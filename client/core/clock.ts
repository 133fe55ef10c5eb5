// The clock as the client's cores see it, so that tests turn it by hand.

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Runs something once, later. @returns what calls it off */
  after(delayMs: number, run: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
};
