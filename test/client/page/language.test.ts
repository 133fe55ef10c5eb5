// Tests of the page's languages: which one the reader gets, and catalogues that have every text of the page with its values.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

import { afterEach, describe, expect, it, vi } from "vitest";

import { CATALOGUE as AR } from "../../../client/page/languages/ar.ts";
import { CATALOGUE as DE } from "../../../client/page/languages/de.ts";
import { CATALOGUE as ES } from "../../../client/page/languages/es.ts";
import { CATALOGUE as JA } from "../../../client/page/languages/ja.ts";
import {
  direction,
  language,
  LANGUAGES,
  numberText,
  t,
  tn,
  tx,
  useCatalogue,
} from "../../../client/page/state/language.ts";

const CATALOGUES = { de: DE, es: ES, ja: JA, ar: AR };
const CLIENT = path.join(import.meta.dirname, "..", "..", "..", "client");

afterEach(() => useCatalogue("en", {}));

const TEXT = `"((?:[^"\\\\]|\\\\.)*)"`;
/** As oxfmt writes the calls: a text is one literal. */
const PLAIN = new RegExp(`(?<![\\w.])(?:t|tx|phrase)\\(\\s*${TEXT}`, "g");
const COUNTED = new RegExp(`(?<![\\w.])tn\\(\\s*[^,"]+,\\s*${TEXT},\\s*${TEXT}`, "g");

function textsIn(folder: string): { plain: Set<string>; counted: Set<string> } {
  const [plain, counted] = [new Set<string>(), new Set<string>()];
  for (const name of readdirSync(path.join(CLIENT, folder), { recursive: true, encoding: "utf8" })) {
    if (!/\.tsx?$/.test(name) || name.startsWith("languages") || name.endsWith("language.ts")) continue;
    const source = readFileSync(path.join(CLIENT, folder, name), "utf8");
    for (const [, text] of source.matchAll(PLAIN)) plain.add(JSON.parse(`"${text}"`) as string);
    for (const [, , other] of source.matchAll(COUNTED)) counted.add(JSON.parse(`"${other}"`) as string);
  }
  return { plain, counted };
}

const valuesOf = (text: string): string[] => Array.from(text.matchAll(/\{(\w+)\}/g), ([, name]) => name!).toSorted();

const [page, embed] = [textsIn("page"), textsIn("embed")];
const plain = new Set([...page.plain, ...embed.plain]);
const counted = new Set([...page.counted, ...embed.counted]);

describe.each(Object.entries(CATALOGUES))("the catalogue %s", (tag, catalogue) => {
  it("has the texts of the page, and no others", () => {
    expect(Object.keys(catalogue).toSorted()).toEqual([...plain, ...counted].toSorted());
  });

  it("has a form for each plural category of its language where a text counts", () => {
    const { pluralCategories } = new Intl.PluralRules(tag).resolvedOptions();
    for (const text of counted)
      expect(Object.keys(catalogue[text] as object).toSorted(), text).toEqual([...pluralCategories].toSorted());
    for (const text of plain) expect(typeof catalogue[text], text).toBe("string");
  });

  it("has the values of each text", () => {
    for (const text of plain) expect(valuesOf(catalogue[text] as string), text).toEqual(valuesOf(text));
    for (const text of counted)
      for (const form of Object.values(catalogue[text] as object) as string[]) {
        const [given, needed] = [valuesOf(form), valuesOf(text)];
        // Where a form stands for one number, it may say it in words.
        expect([...given, ...(given.includes("n") || !needed.includes("n") ? [] : ["n"])].toSorted(), form).toEqual(
          needed,
        );
      }
  });
});

it("no element of a component has an English text of its own", () => {
  const folder = path.join(CLIENT, "page", "components");
  const bare = readdirSync(folder).flatMap((name) =>
    Array.from(
      readFileSync(path.join(folder, name), "utf8").matchAll(/^ +([A-Z][a-z]+(?: [a-z]+)+[.…]?)$/gm),
      ([, text]) => text,
    ),
  );
  expect(bare).toEqual([]);
});

describe("a text", () => {
  it("is that of the catalogue, with its values; a missing one stays in English", () => {
    useCatalogue("de", { "Save {name}": "{name} sichern" });
    expect([t("Save {name}", { name: "a.png" }), t("Close")]).toEqual(["a.png sichern", "Close"]);
    expect(tx("Save {name}", { name: 1 })).toEqual(["", 1, " sichern"]);
  });

  it("keeps what looks like a value in a value", () => {
    expect(t("{by} kicked {user}", { by: "{user}", user: "Ben" })).toBe("{user} kicked Ben");
  });

  it("with a number has the form of the language", () => {
    expect([0, 1, 2].map((n) => tn(n, "{n} report", "{n} reports"))).toEqual(["0 reports", "1 report", "2 reports"]);
    useCatalogue("ar", { "{n} reports": { zero: "0", one: "1", two: "2", few: "few", many: "many", other: "other" } });
    expect([0, 1, 2, 3, 11, 100].map((n) => tn(n, "{n} report", "{n} reports"))).toEqual([
      "0",
      "1",
      "2",
      "few",
      "many",
      "other",
    ]);
    expect([language(), direction()]).toEqual(["ar", "rtl"]);
  });
});

it.each([
  [["en-US@posix"], "1,000"],
  [["en-US@posix", "de", "en-IN"], "1,000"],
  [["de-DE", "en-GB"], "1,000"],
])("a browser with the languages %j shows numbers, whatever they are", (languages, expected) => {
  vi.stubGlobal("navigator", { languages });
  useCatalogue("en", {});
  expect(numberText(1000)).toBe(expected);
  vi.unstubAllGlobals();
});

it("each language has a catalogue", () => {
  expect(LANGUAGES.map(({ tag }) => tag)).toEqual(["en", ...Object.keys(CATALOGUES)]);
});
