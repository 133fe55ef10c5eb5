// Whether a span of time is over, whatever is done to the clock.
import { expect, it } from "vitest";

import { hasPassed } from "../../src/clock/has-passed.ts";

it("has passed from its last millisecond on", () => {
  expect([1000, 1099, 1100].map((nowMs) => hasPassed(1000, 100, nowMs))).toEqual([false, false, true]);
});

it("has passed where there was no beginning, and where the clock was set back", () => {
  expect([hasPassed(-Infinity, 100, 0), hasPassed(1000, 100, 999)]).toEqual([true, true]);
});
