// Names of the lives of a log: a later life has a higher name.
import { describe, expect, it } from "vitest";

import { nameLife, UNNAMED_LIFE } from "../../../src/socketio/recovery/lives.ts";
import { START_MS } from "../../host/harness.ts";

describe("a life's name", () => {
  it("is higher than those of all lives before it, at any time of the clock", () => {
    let name = UNNAMED_LIFE;
    for (const nowMs of [START_MS, START_MS, START_MS + 10, START_MS - 3_600_000, START_MS + 60_000, 0]) {
      const next = nameLife(nowMs, "chance", name);
      expect(next > name, `${next} after ${name}`).toBe(true);
      expect(next).toMatch(/^[0-9a-z]{10}$/);
      name = next;
    }
  });

  it("is another one for each object that opens the same log in the same second", () => {
    expect(nameLife(START_MS, "abc", UNNAMED_LIFE)).not.toBe(nameLife(START_MS, "abd", UNNAMED_LIFE));
    expect(nameLife(START_MS, "-", UNNAMED_LIFE)).toMatch(/^[0-9a-z]{10}$/);
  });
});
