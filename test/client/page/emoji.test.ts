// Tests emoji: which the page offers and how it finds them, when a code in the field is one, and what this browser keeps of the reader's.
import { beforeEach, describe, expect, it, vi } from "vitest";

import { LikedEmoji, openCodeIn, wholeCodeIn } from "../../../client/page/state/emoji.ts";
import { emojiData } from "../../../scripts/emoji-data.ts";
import { REACT } from "../../../src/protocol/events/messages.ts";
import { FakeLocalStorage } from "../../host/fake-local-storage.ts";

vi.stubGlobal("EMOJI_DATA", emojiData());
const { findEmoji, groups, inTone, ofCode } = await import("../../../client/page/state/emoji-data.ts");
/** As a string: not all readers of this file know the flag. */
const ONE_EMOJI = new RegExp(String.raw`^\p{RGI_Emoji}$`, "v");
const all = groups.flat();

describe("the emoji on offer", () => {
  it("are those that a room takes as reactions, also in a tone, as it writes them", () => {
    expect(all.length).toBeGreaterThan(1800);
    for (const emoji of all)
      for (const one of new Set([emoji.emoji, inTone(emoji, 3)])) {
        expect(one).toMatch(ONE_EMOJI);
        expect(REACT.schema.parse({ id: "e-1", emoji: one, on: true }).emoji).toBe(one);
      }
  });

  it("have a name, a code or more, and a group", () => {
    expect(groups.map((group) => group[0]!.emoji)).toContain("🍇");
    expect(all.filter(({ name, codes }) => name === "" || !codes.every((code) => /^[a-z0-9_+-]+$/.test(code)))).toEqual(
      [],
    );
    expect(new Set(all.map(({ emoji }) => emoji)).size).toBe(all.length);
  });

  it.each([
    ["👍", 3, "👍🏽"],
    ["☝️", 1, "☝🏻"],
    ["👩‍💻", 5, "👩🏿‍💻"],
    ["❤️", 3, "❤️"],
    ["👍", 0, "👍"],
    ["🧑‍🤝‍🧑", 2, "🧑🏼‍🤝‍🧑🏼"],
    ["🤝", 4, "🤝🏾"],
    // Has had tones for too short a time.
    ["👯", 4, "👯"],
  ])("%s in tone %i is %s", (emoji, tone, expected) => {
    expect(
      inTone(
        all.find((one) => one.emoji === emoji)!,
        tone,
      ),
    ).toBe(expected);
  });

  it("are found by their codes, the nearest first, and by words", () => {
    expect(ofCode("smile")?.emoji).toBe("😄");
    expect(ofCode("+1")?.emoji).toBe("👍");
    expect(ofCode("no_such")).toBeUndefined();
    expect(findEmoji("smi").map(({ emoji }) => emoji)).toEqual(expect.arrayContaining(["😄", "😏", "😃"]));
    expect(findEmoji("smi")[0]!.emoji).toBe("😄");
    expect(findEmoji("Heart")[0]!.emoji).toBe("❤️");
    expect(findEmoji("thumbs up")[0]!.emoji).toBe("👍");
    expect(findEmoji("germany").map(({ emoji }) => emoji)).toEqual(["🇩🇪"]);
    expect(findEmoji("xyzzy")).toEqual([]);
  });
});

describe("a code in the field", () => {
  it.each([
    [":smi", { from: 0, query: "smi" }],
    ["so :+1", { from: 3, query: "+1" }],
    ["(:sm", { from: 1, query: "sm" }],
    ["👍:ta", { from: 2, query: "ta" }],
    ["line\n:ta", { from: 5, query: "ta" }],
    ["`a` :ta", { from: 4, query: "ta" }],
    [":s", undefined],
    [":)", undefined],
    ["10:30:45", undefined],
    ["note:this", undefined],
    ["größe:cm", undefined],
    ["std::move", undefined],
    ["https://x.example/a?b=:smi", undefined],
    ["http://:smi", undefined],
    ["`:smi", undefined],
    ["`a :smi", undefined],
    ["```\n:smi", undefined],
    ["```\na\n```\n:smi", { from: 10, query: "smi" }],
    ["- a\n  - b :smi", { from: 10, query: "smi" }],
    ["- `:smi", undefined],
    [":smile:", undefined],
  ])("%j is open: %j", (text, expected) => {
    expect(openCodeIn(text, text.length)).toEqual(expected);
  });

  it.each([
    ["so :smile:", { from: 3, query: "smile" }],
    ["**bold :x:", { from: 7, query: "x" }],
    ["10:30:45:", undefined],
    ["`:smile:", undefined],
    ["```\n:smile:", undefined],
    ["https://x.example/?:smile:", undefined],
    ["::", undefined],
    [":smi", undefined],
  ])("%j is whole: %j", (text, expected) => {
    expect(wholeCodeIn(text, text.length)).toEqual(expected);
  });

  it("ends at the caret", () => {
    expect(openCodeIn("a :smi more", 6)).toEqual({ from: 2, query: "smi" });
    expect(openCodeIn("a :smi more", 11)).toBeUndefined();
  });
});

describe("what the reader likes", () => {
  beforeEach(() => {
    vi.stubGlobal("localStorage", new FakeLocalStorage());
  });
  const open = (): LikedEmoji => new LikedEmoji("https://chat.example");

  it("is a row at first; what was taken last comes first, and as much as is kept", () => {
    expect(open().emoji).toHaveLength(8);
    expect(open().emoji[0]).toBe("👍");
    open().take("🐳");
    open().take("🎉");
    expect(open().emoji.slice(0, 3)).toEqual(["🎉", "🐳", "👍"]);
    expect(open().emoji).toHaveLength(8);
    for (const { emoji } of all.slice(0, 30)) open().take(emoji);
    expect(open().emoji).toEqual(
      all
        .slice(14, 30)
        .map(({ emoji }) => emoji)
        .toReversed(),
    );
  });

  it("has a tone, and survives what another page has stored", () => {
    open().setTone(3);
    open().take("🐳");
    expect([open().tone, open().emoji[0]]).toEqual([3, "🐳"]);
    for (const stored of ['"no"', '{"taken":[1],"tone":"x"}', "{", "null"]) {
      localStorage.setItem("parley.emoji", stored);
      expect([open().tone, open().emoji[0]]).toEqual([0, "👍"]);
    }
  });
});
