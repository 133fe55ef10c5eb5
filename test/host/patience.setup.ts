// What every file of every ring begins with: whatever is waited for is given the time that a busy machine takes. A bound is
// there against hanging; nothing becomes slower by a longer one.
import { vi } from "vitest";

const PATIENCE_MS = 15_000;

const { waitFor } = vi;
// By itself it gives up after a second.
vi.waitFor = (callback, options = {}) =>
  waitFor(callback, { timeout: PATIENCE_MS, ...(typeof options === "number" ? { timeout: options } : options) });
