// The clock that the client's classes get handed in, so that tests can set it.

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Runs something once, later. @returns a function that cancels it */
  after(delayMs: number, run: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
};
