// The small rules about text: one form of each emoji, initials of names.
import { describe, expect, it } from "vitest";

import { canonicalEmoji } from "../../../src/protocol/text/characters.ts";
import { initialsOf } from "../../../src/protocol/text/initials.ts";

describe("one emoji, however it is written", () => {
  it.each([
    ["❤️", "❤", "❤\uFE0E", "❤\uFE0F"],
    ["🏳️‍🌈", "🏳\u200D🌈", "🏳\uFE0F\u200D🌈\uFE0F"],
    ["🏴‍☠️", "🏴\u200D☠"],
    ["👁️‍🗨️", "👁\u200D🗨", "👁\u200D🗨\uFE0F"],
    ["👩‍⚕️", "👩\u200D⚕"],
    ["1️⃣", "1\u20E3"],
    ["👍", "👍\uFE0F"],
    ["☝🏽", "☝\uFE0F🏽"],
    ["🇩🇪", "🇩🇪\uFE0F"],
    ["🏴󠁧󠁢󠁷󠁬󠁳󠁿", "🏴󠁧󠁢󠁷󠁬󠁳󠁿"],
    [":1st_place:", ":1st_place:"],
    ["+1", "+1"],
  ])("is %s", (canonical, ...written) => {
    for (const one of [canonical, ...written]) expect(canonicalEmoji(one)).toBe(canonical);
  });

  it("keeps skin tones and genders apart", () => {
    const several = ["👍", "👍🏽", "👍🏿", "🏃", "🏃‍♀️", "🏃🏽‍♀️"];
    expect(several.map(canonicalEmoji)).toEqual(several);
  });
});

describe("initials", () => {
  it.each([
    ["Ada Lovelace", "AL"],
    ["👩‍🚀 Ada", "A"],
    ["🇩🇪 Karl", "K"],
    ["Ingrid (roaster)", "IR"],
    ["אבג", "א"],
    ["(ada)", "A"],
    ["e\u0301ric o\u0308z", "ÉÖ"],
    ["कमला देवी", "कद"],
    ["ﬁona ßen", "FS"],
    ["Mary O'Brien-Smith", "MS"],
    ["R2 D2", "RD"],
    ["李小龍", "李"],
    ["𝒜da", "𝒜"],
    ["42", "4"],
    [`M${"\u0300".repeat(60)} 1`, "M"],
    [`🎉${"\u0301".repeat(60)}`, "🎉"],
    ["👨‍👩‍👧‍👦", "👨‍👩‍👧‍👦"],
    ["🇩🇪", "🇩🇪"],
    ["…", "?"],
    ["\u200B\u202E", "?"],
    ["", "?"],
  ])("of %j are %j", (name, initials) => {
    expect(initialsOf(name)).toBe(initials);
  });
});
