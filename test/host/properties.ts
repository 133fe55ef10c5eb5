// Sets fast-check up: every run tries the same inputs, and a failure prints its seed and the shortest input that fails. Imported by
// all tests of properties. `SEED=7 RUNS=10000 npm test -- test/chat/sleep-property` tries other inputs.
import fc, { configureGlobal } from "fast-check";

const { SEED, RUNS, LONG } = process.env;

/** Whether campaigns run at their full length: `npm test -- --long`. */
export const IS_LONG = LONG !== undefined;

configureGlobal({ seed: Number(SEED ?? 20_261_121), ...(RUNS && { numRuns: Number(RUNS) }) });

/** @param count tries of the long form; the short one makes a quarter of them, so that the tests stay quick */
export const runs = (count: number): { numRuns: number } => ({
  numRuns: Number(RUNS ?? (IS_LONG ? count : Math.ceil(count / 4))),
});

export { fc };
