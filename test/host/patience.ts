// The bounds of waiting in tests, long enough for any slow machine. They only end a test that hangs, so they slow no test down.
// Imported by vitest.config.ts, by the set-up of every test file, and by tests that wait without vitest.

/** For one thing that a test waits for. */
export const PATIENCE_MS = 120_000;

/** For one test, or one set-up of a file. */
export const HANG_MS = 900_000;
