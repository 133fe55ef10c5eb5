// Tests of marks.ts: marks around a selection, and links made from a pasted address.
import { describe, expect, it } from "vitest";

import { linkTo, marked, type Mark } from "../../../client/page/state/marks.ts";

/** A field whose selection stands between the two bars, or whose caret is the one. */
const field = (drawn: string): { value: string; from: number; to: number } => {
  const [from, last] = [drawn.indexOf("|"), drawn.lastIndexOf("|")];
  return { value: drawn.replaceAll("|", ""), from, to: from === last ? from : last - 1 };
};

function after(drawn: string, mark: Mark): string {
  const { value, from, to } = field(drawn);
  const change = marked(value, { from, to }, mark);
  const text = value.slice(0, change.from) + change.text + value.slice(change.to);
  const { selected } = change;
  const bar = selected.from === selected.to ? "" : "|";
  return `${text.slice(0, selected.from)}${bar}${text.slice(selected.from, selected.to)}|${text.slice(selected.to)}`;
}

describe("a mark", () => {
  it.each<[before: string, mark: Mark, after: string]>([
    ["a |b| c", "**", "a **|b|** c"],
    ["a |b |c", "_", "a _|b|_ c"],
    ["a| b| c", "~~", "a ~~|b|~~ c"],
    ["a |b| c", "`", "a `|b|` c"],
    ["|", "**", "**|**"],
    ["a |", "_", "a _|_"],
    // Of several lines each gets its own, behind what makes it a quote or an item.
    ["|- a\n- b\n\n> c|", "**", "|- **a**\n- **b**\n\n> **c**|"],
    ["|1. a\n- **b**|", "**", "|1. **a**\n- **b**|"],
    ["|a\nb|", "`", "```\n|a\nb|\n```"],
    // The same key takes it away.
    ["a **|b|** c", "**", "a |b| c"],
    ["a |**b**| c", "**", "a |b| c"],
    ["|- **a**\n- **b**|", "**", "|- a\n- b|"],
    ["```\n|a\nb|\n```", "`", "|a\nb|"],
    ["|```\na\nb\n```|", "`", "|a\nb|"],
    ["**|**", "**", "|"],
    // At the end of what is marked the caret leaves it; before it another begins.
    ["a **b|** c", "**", "a **b**| c"],
    ["a |**b**", "**", "a **|****b**"],
    // Spaces get no marks.
    ["a| |b", "**", "a |b"],
  ])("%j with %s: %j", (before, mark, expected) => {
    expect(after(before, mark)).toBe(expected);
  });
});

describe("an address that is pasted over a text", () => {
  it.each<[pasted: string, selected: string, written: string | undefined]>([
    ["https://a.example/x", "the docs", "[the docs](https://a.example/x)"],
    [" www.a.example\n", " the [docs] ", " [the [docs]](www.a.example) "],
    ["ada@a.example", "Ada", "[Ada](ada@a.example)"],
    ["https://a.example/x", "", undefined],
    ["https://a.example/x", "https://b.example/", undefined],
    ["https://a.example/x", "https://a.example/x", undefined],
    ["https://a.example/x", "two\nlines", undefined],
    ["https://a.example/x", "a] b", undefined],
    ["see https://a.example/x", "docs", undefined],
    ["https://a.example/x https://a.example/y", "docs", undefined],
    ["javascript:alert(1)", "docs", undefined],
  ])("%j over %j: %j", (pasted, selected, written) => {
    expect(linkTo(pasted, selected)).toBe(written);
  });
});
