// Gives every wait in every test file the time that a busy machine needs. Longer bounds slow no test down; they only end
// hanging ones.
import { vi } from "vitest";

const PATIENCE_MS = 15_000;

const { waitFor } = vi;
// By itself it gives up after a second.
vi.waitFor = (callback, options = {}) =>
  waitFor(callback, { timeout: PATIENCE_MS, ...(typeof options === "number" ? { timeout: options } : options) });
