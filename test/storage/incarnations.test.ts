// Names of the incarnations of a log: a later incarnation has a higher name.
import { describe, expect, it } from "vitest";

import { nameIncarnation, UNNAMED_INCARNATION } from "../../src/storage/incarnations.ts";
import { START_MS } from "../host/harness.ts";

describe("an incarnation's name", () => {
  it("is higher than those of all incarnations before it, at any time of the clock", () => {
    let name = UNNAMED_INCARNATION;
    for (const nowMs of [START_MS, START_MS, START_MS + 10, START_MS - 3_600_000, START_MS + 60_000, 0]) {
      const next = nameIncarnation(nowMs, "chance", name);
      expect(next > name, `${next} after ${name}`).toBe(true);
      expect(next).toMatch(/^[0-9a-z]{10}$/);
      name = next;
    }
  });

  it("is another one for each object that opens the same log in the same second", () => {
    expect(nameIncarnation(START_MS, "abc", UNNAMED_INCARNATION)).not.toBe(
      nameIncarnation(START_MS, "abd", UNNAMED_INCARNATION),
    );
    expect(nameIncarnation(START_MS, "-", UNNAMED_INCARNATION)).toMatch(/^[0-9a-z]{10}$/);
  });
});
