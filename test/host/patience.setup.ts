// Gives every `vi.waitFor` in every test file the time that a slow machine needs. Vitest runs it before each file.
import { vi } from "vitest";

import { PATIENCE_MS } from "./patience.ts";

const { waitFor } = vi;
// By itself it gives up after a second.
vi.waitFor = (callback, options = {}) =>
  waitFor(callback, { timeout: PATIENCE_MS, ...(typeof options === "number" ? { timeout: options } : options) });
