// The stored format of changes: every written change can be read, and nothing else.
import { describe, expect, it } from "vitest";

import { UnreadableBatch } from "../../../src/chat/log/batch-format.ts";
import { decodeChange, encodeChange } from "../../../src/chat/log/change-format.ts";
import type { Change } from "../../../src/chat/log/change.ts";
import { canonicalEmoji } from "../../../src/protocol/text/characters.ts";
import { anyCharacter, fc } from "../../host/properties.ts";

const text = fc.string({ unit: anyCharacter });
const changes: fc.Arbitrary<Change> = fc
  .record(
    {
      deletedBy: text,
      edits: fc.array(fc.record({ content: text, timestamp: fc.nat(), by: text }), { maxLength: 4 }),
      reactions: fc
        .uniqueArray(fc.tuple(text.map(canonicalEmoji), fc.array(text, { minLength: 1, maxLength: 4 })), {
          selector: ([emoji]) => emoji,
        })
        .map((entries) => new Map(entries)),
    },
    { requiredKeys: ["edits", "reactions"] },
  )
  // fast-check makes records without a prototype.
  .map((change) => ({ ...change, edits: change.edits.map((edit) => ({ ...edit })) }));

describe("a stored change", () => {
  it("is read back as it was written, with any text", () => {
    fc.assert(
      fc.property(changes, (change) => {
        expect(decodeChange(encodeChange(change), 1)).toEqual(change);
      }),
    );
  });

  it("has this stored form", () => {
    const edits = [{ content: "hello!", timestamp: 1_700_000_000_000, by: "ada" }];
    const reactions = new Map([["👍", ["ben", "cleo"]]]);
    const written = '[1,{"e":[["hello!",1700000000000,"ada"]],"r":[["👍",["ben","cleo"]]]}]';
    expect(encodeChange({ edits, reactions })).toBe(written);
    expect(decodeChange(written, 1)).toEqual({ edits, reactions });
    expect(encodeChange({ deletedBy: "ada", edits: [], reactions: new Map() })).toBe('[1,{"d":"ada"}]');
  });

  it("of an earlier release has each emoji once, with the users of all ways to write it", () => {
    const stored = JSON.stringify([
      1,
      {
        r: [
          ["❤", ["ada", "ben"]],
          ["👍", ["ada"]],
          ["❤\uFE0F", ["ben", "cleo"]],
        ],
      },
    ]);
    expect([...decodeChange(stored, 1).reactions]).toEqual([
      ["❤\uFE0F", ["ada", "ben", "cleo"]],
      ["👍", ["ada"]],
    ]);
  });

  it.each([
    "",
    "no json",
    "{}",
    "7",
    "null",
    "[2,{}]",
    "[1]",
    "[1,null]",
    '[1,{"e":7}]',
    '[1,{"r":[7]}]',
    '[1,{"r":[["a","b"],["a","c"]]}]',
  ])("reports a text that is none: %j", (written) => {
    expect(() => decodeChange(written, 7)).toThrow(UnreadableBatch);
    expect(() => decodeChange(written, 7)).toThrow(/seq 7/);
  });
});
