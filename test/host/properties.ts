// fast-check, set up so that every run tries the same inputs. A failure prints its seed and the shortest
// input that fails. Others are tried with `SEED=7 RUNS=10000 npx vitest run --project core`.
import fc, { configureGlobal } from "fast-check";

const { SEED, RUNS } = process.env;

configureGlobal({ seed: Number(SEED ?? 20_261_121), ...(RUNS && { numRuns: Number(RUNS) }) });

/** How often a property is tried that deserves more than the hundred tries of the others. */
export const runs = (count: number): { numRuns: number } => ({ numRuns: Number(RUNS ?? count) });

export { fc };

/** For properties that take a second on a quick machine, and tests that make RSA keys. */
export const PATIENT = { timeout: 120_000 };
