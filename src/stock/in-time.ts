// Waits for a promise, but not for ever. Called by sleep.ts and sibling-link.ts.

/** Calls a function later. @returns a function that calls that off */
export type After = (ms: number, run: () => void) => () => void;

/** @throws Error if the promise takes longer */
export function inTime<Result>(promise: Promise<Result>, ms: number, after: After): Promise<Result> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const callOff = after(ms, () => reject(new Error(`no answer in ${ms} ms`)));
  return Promise.race([promise, late]).finally(callOff);
}
