// Tests the reading of announcement pieces from a queue, and the descriptions of unreadable messages.
import { describe, expect, it } from "vitest";

import { ANNOUNCE_VERSION } from "../../src/protocol/announcement.ts";
import { JSON_LEVELS_MAX } from "../../src/protocol/nesting.ts";
import { describeBatch, isReadableItem } from "../../src/relay/readable-batch.ts";

describe("a message of the queue that is neither a batch nor a part", () => {
  const announce = { v: ANNOUNCE_VERSION, at: 1, id: "a1", data: 1, by: { user: "backend", name: "backend" } };
  const part = { announce, part: 0, tries: 0, to: [{ room: "a", number: 0 }] };

  it("ANN-5: unreadable bodies of any shape are recognized and described", () => {
    expect([part, { announce, walk: { prefix: "", rooms: 0, parts: 0 } }].every(isReadableItem)).toBe(true);
    const poison: unknown[] = [
      null,
      "announce",
      1,
      [],
      { announce: null },
      { ...part, announce: { ...announce, v: ANNOUNCE_VERSION + 1 } },
      { ...part, announce: { ...announce, at: "soon" } },
    ];
    const deep = JSON.parse(`${"[".repeat(5000)}${"]".repeat(5000)}`) as unknown;
    poison.push(
      ...["connect", "welcome"].map((event) => ({ ...part, announce: { ...announce, event } })),
      { ...part, announce: { ...announce, id: "a".repeat(65) } },
      { ...part, announce: { ...announce, data: deep } },
      { ...part, announce: { ...announce, by: { user: "", name: "" } } },
      { ...part, part: 1e12 },
      { ...part, to: [{ room: "a", number: 1e12 }] },
      { ...part, to: [{ room: "a", users: [[1e12, "ada"]] }] },
      { ...part, to: [{ room: "no room" }] },
      { announce, walk: { prefix: "", rooms: 0, parts: 0 }, to: 5 },
      { ...part, look: [] },
    );
    expect(poison.filter(isReadableItem)).toEqual([]);
    // As deep as a call may nest it.
    const deepest = JSON.parse(`${"[".repeat(JSON_LEVELS_MAX)}${"]".repeat(JSON_LEVELS_MAX)}`) as unknown;
    expect(isReadableItem({ ...part, announce: { ...announce, data: deepest } })).toBe(true);
    for (const body of poison) expect(() => describeBatch(body)).not.toThrow();
    expect(describeBatch(part)).toEqual({ announcement: "a1", to: "a", messages: 0, changes: 0 });
    expect(describeBatch({ announce: null })).toEqual({ announcement: "", to: "", messages: 0, changes: 0 });
  });
});
