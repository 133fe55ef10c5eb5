// hasPassed: whether a span of time is over, also after the clock was set.
import { expect, it } from "vitest";

import { hasPassed } from "../../src/clock/has-passed.ts";

it("has passed from its last millisecond on", () => {
  expect([1000, 1099, 1100].map((nowMs) => hasPassed(1000, 100, nowMs))).toEqual([false, false, true]);
});

it("has passed if there was no beginning, or the clock was set back", () => {
  expect([hasPassed(-Infinity, 100, 0), hasPassed(1000, 100, 999)]).toEqual([true, true]);
});
