// The colours of the pages: as WCAG AA wants it, each text has a contrast of 4.5 to each ground that it stands on, and each edge of a control one
// of 3, in both schemes. Computed from the sheets, in which tokens.css names colours by their roles.
import { readFileSync } from "node:fs";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { HUES } from "../../../client/page/state/hue.ts";

const ROOT = path.join(import.meta.dirname, "..", "..", "..");
const STYLES = path.join(ROOT, "client", "page", "styles");
const sheet = (name: string): string => readFileSync(path.join(STYLES, name), "utf8");

const SCHEMES = ["light", "dark"] as const;
type Scheme = (typeof SCHEMES)[number];
/** Red, green and blue as light, from 0 to 1. */
type Light = readonly [number, number, number];

const TOKENS = new Map(
  Array.from(
    sheet("tokens.css").matchAll(/--([\w-]+): light-dark\((#[\da-f]{6}), (#[\da-f]{6})\);/g),
    ([, name, light, dark]): readonly [string, Record<Scheme, string>] => [name!, { light: light!, dark: dark! }],
  ),
);

const fromHex = (hex: string): Light => {
  const part = (at: number): number => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return [part(1), part(3), part(5)];
};

/** As CSS Color 4 converts it; what the screen cannot show is cut off. */
function fromOklch(lightness: number, chroma: number, hue: number): Light {
  const [a, b] = [Math.cos, Math.sin].map((side) => chroma * side((hue * Math.PI) / 180)) as [number, number];
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const rgb: Light = [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
  return rgb.map((value) => Math.min(1, Math.max(0, value))) as unknown as Light;
}

const brightness = ([red, green, blue]: Light): number => 0.2126 * red + 0.7152 * green + 0.0722 * blue;

function contrast(one: Light, other: Light): number {
  const [dark, bright] = [brightness(one), brightness(other)].toSorted((a, b) => a - b) as [number, number];
  return (bright + 0.05) / (dark + 0.05);
}

function token(name: string, scheme: Scheme): Light {
  const pair = TOKENS.get(name);
  if (!pair) throw new Error(`tokens.css has no --${name}`);
  return fromHex(pair[scheme]);
}

const GROUNDS = ["ground", "side", "surface", "sunken", "raised", "bubble", "hover", "select"];
/** What stands on what. */
const TEXTS: Readonly<Record<string, readonly string[]>> = {
  text: [...GROUNDS, "tint", "mention-ground", "mark"],
  muted: [...GROUNDS, "mention-ground"],
  accent: ["ground", "side", "surface", "raised", "bubble", "hover", "tint", "mention-ground"],
  "on-accent": ["accent"],
  "on-own": ["own"],
  "on-own-muted": ["own"],
  mention: ["mention-ground"],
  unread: ["ground", "hover"],
  "on-unread": ["unread"],
  good: ["good-ground"],
  warn: ["warn-ground", "ground"],
  bad: ["ground", "surface", "raised", "hover", "bad-ground"],
  "on-bad": ["bad-strong"],
  "code-keyword": ["sunken"],
  "code-string": ["sunken"],
  "code-value": ["sunken"],
  "code-name": ["sunken"],
  "code-comment": ["sunken"],
  "code-removed": ["sunken"],
};

describe.each(SCHEMES)("%s", (scheme) => {
  it.each(Object.entries(TEXTS))("--%s is readable on its grounds", (name, grounds) => {
    const pale = grounds.filter((ground) => contrast(token(name, scheme), token(ground, scheme)) < 4.5);
    expect(pale).toEqual([]);
  });

  it("the edge of a control is to be seen", () => {
    const pale = GROUNDS.filter((ground) => contrast(token("edge", scheme), token(ground, scheme)) < 3);
    expect(pale.filter((ground) => !["bubble", "sunken", "select"].includes(ground))).toEqual([]);
  });

  it("initials are readable on each of the sixteen hues, and names of each hue on all grounds of messages", () => {
    const colours = (text: string): Array<readonly [number, number]> =>
      Array.from(text.matchAll(/oklch\((\d+)% ([\d.]+) var\(--hue\)\)/g), ([, l, c]) => [Number(l) / 100, Number(c)]);
    const [fill] = colours(sheet("base.css"));
    // In light-dark(), each time the same pair.
    const [light, dark, ...again] = colours(sheet("messages.css"));
    expect(again.length % 2).toBe(0);
    for (let at = 0; at < again.length; at += 2) expect(again.slice(at, at + 2)).toEqual([light, dark]);
    const name = scheme === "light" ? light! : dark!;
    expect(new Set(HUES).size).toBe(16);
    for (const hue of HUES) {
      expect(contrast(fromHex("#ffffff"), fromOklch(...fill!, hue)), `initials, ${hue}`).toBeGreaterThanOrEqual(4.5);
      for (const ground of ["ground", "hover", "bubble", "mention-ground"])
        expect(contrast(fromOklch(...name, hue), token(ground, scheme)), `${hue} on ${ground}`).toBeGreaterThanOrEqual(
          4.5,
        );
    }
  });
});

it("the example of the typing race has the same sheet of colours", () => {
  const copy = path.join(ROOT, "docs", "examples", "typing-race", "public", "tokens.css");
  expect(readFileSync(copy, "utf8")).toBe(sheet("tokens.css"));
});
