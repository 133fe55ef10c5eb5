// Backoff: the wait before a retry.
import { expect, it } from "vitest";

import { waitAfter } from "../../src/clock/backoff.ts";

it("doubles with each failure, up to the longest wait", () => {
  expect([1, 2, 3, 4, 5, 2000].map((failures) => waitAfter({ first: 5, max: 60 }, failures))).toEqual([
    5, 10, 20, 40, 60, 60,
  ]);
});
