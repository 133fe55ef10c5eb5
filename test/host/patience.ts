// How long tests wait: nobody's machine is so slow that a test fails for it. These bounds only end what hangs, so they slow no test down.
// Imported by vitest.config.ts, by the set-up of every test file, and by tests that wait without vitest.

/** For one thing that a test waits for. */
export const PATIENCE_MS = 120_000;

/** For one test, or one set-up of a file. */
export const HANG_MS = 900_000;
