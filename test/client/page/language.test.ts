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
import { countText } from "../../../client/page/state/news.ts";
import { describeFailure } from "../../../client/page/state/room-answers.ts";
import { SAID } from "../../../client/page/state/said.ts";
import { statusOf } from "../../../client/page/state/shown-connection.ts";
import { bytesText, duration } from "../../../client/page/state/times.ts";

const CATALOGUES = { de: DE, es: ES, ja: JA, ar: AR };
const CLIENT = path.join(import.meta.dirname, "..", "..", "..", "client");

afterEach(() => useCatalogue("en", {}));

const TEXT = `"((?:[^"\\\\]|\\\\.)*)"`;
/** As oxfmt writes the calls: a text is one literal. */
const PLAIN = new RegExp(`(?<![\\w.])(?:t|tx|phrase)\\(\\s*${TEXT}`, "g");
const COUNTED = new RegExp(`(?<![\\w.])tn\\(\\s*[^,"]+,\\s*${TEXT},\\s*${TEXT}`, "g");

function sourcesIn(folder: string): string[] {
  return readdirSync(path.join(CLIENT, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name) && !name.startsWith("languages") && !name.endsWith("language.ts"))
    .map((name) => readFileSync(path.join(CLIENT, folder, name), "utf8"));
}

function textsIn(folder: string): { plain: Set<string>; counted: Set<string> } {
  const [plain, counted] = [new Set<string>(), new Set<string>()];
  for (const source of sourcesIn(folder)) {
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

it("numbers are those of the language in each text", () => {
  vi.stubGlobal("navigator", { languages: ["ar-EG"] });
  useCatalogue("ar", AR);
  const texts = [
    t("{at} of {n}", { at: 2, n: 13 }),
    duration(65_000),
    duration(3_600_000),
    bytesText(12),
    countText(120),
  ];
  expect(texts).toEqual(["٢ من ١٣", "١:٠٥ د", "١ س", "١٢ B", "٩٩+"]);
  vi.unstubAllGlobals();
});

it("sentences of the client and of the room are in the reader's language, those of others stay", () => {
  useCatalogue("de", DE);
  const inGerman = (code: string, message: string): string => describeFailure({ code, message });
  expect(inGerman("NO_CONNECTION", "There is no connection to the room.")).toBe("Keine Verbindung zum Raum.");
  expect(inGerman("NOT_FOUND", "That message is not there any more.")).toBe("Diese Nachricht ist nicht mehr da.");
  expect(inGerman("REJECTED", "No spam here.")).toBe("No spam here.");
  for (const said of SAID) expect(inGerman("ANY", `${said}.`)).toBe(`${DE[said] as string}.`);
  const ended = (code: string, message: string): string => statusOf({ kind: "stopped", code, message }, 0).text;
  expect(ended("KICKED", "You were kicked from this room.")).toBe("Du wurdest aus diesem Raum geworfen.");
  expect(ended("BANNED", "You are banned from this room: Spam: zu viel")).toBe(
    "Du bist für diesen Raum gesperrt: Spam: zu viel",
  );
});

it("no words stand in the page beside the texts that have a language", () => {
  const words = [...sourcesIn("page"), ...sourcesIn("embed")].flatMap((source) =>
    Array.from(source.matchAll(/^\s+([A-Z][a-z]+(?: [a-z]+)*[.…]?)$|>([A-Z][a-z]+ [^<{}=]*)</gm), ([words]) =>
      words.trim(),
    ),
  );
  expect(words).toEqual([]);
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
