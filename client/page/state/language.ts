// The language of the page. Its texts stand in English in the code, and `t` gives them in the reader's language: a catalogue
// (client/page/languages) has each of them. The entries choose the language before they draw; components and state classes call `t`.
import { keep, local, readJson } from "./json-storage.ts";

/** Where the build has put the catalogues, beside the file that this is a part of. */
declare const GERMAN_MODULE: string;
declare const SPANISH_MODULE: string;
declare const JAPANESE_MODULE: string;
declare const ARABIC_MODULE: string;

/** A text with a number has a form for each plural category of the language. */
export type Forms = Readonly<Partial<Record<Intl.LDMLPluralRule, string>>> & { readonly other: string };

/** The texts of a language, by the English ones; of a text with a number, by the English form `other`. */
export type Catalogue = Readonly<Record<string, string | Forms>>;

interface Choice {
  readonly tag: string;
  /** As its speakers call it. */
  readonly name: string;
  /** Its catalogue; English has none. */
  readonly address?: () => string;
  readonly isRightToLeft?: true;
}

export const LANGUAGES: readonly Choice[] = [
  { tag: "en", name: "English" },
  { tag: "de", name: "Deutsch", address: () => GERMAN_MODULE },
  { tag: "es", name: "Español", address: () => SPANISH_MODULE },
  { tag: "ja", name: "日本語", address: () => JAPANESE_MODULE },
  { tag: "ar", name: "العربية", address: () => ARABIC_MODULE, isRightToLeft: true },
];

const KEY = "parley.language";
const [ENGLISH] = LANGUAGES as readonly [Choice];

let current = ENGLISH;
let catalogue: Catalogue = {};
/** The language with its region as the browser has it: it decides how dates and numbers look. */
let locale = "en";
let rules = new Intl.PluralRules(locale);

/** The tag of the language on the screen. */
export const language = (): string => current.tag;
export const direction = (): "ltr" | "rtl" => (current.isRightToLeft ? "rtl" : "ltr");

const choiceFor = (tag: string): Choice | undefined => {
  const [base] = tag.toLowerCase().split("-");
  return LANGUAGES.find((choice) => choice.tag === base);
};

/**
 * Called before the page is drawn. The reader's own choice comes first, then the languages of the embedding page and of the browser.
 * @param around the language of the page around an embedded chat
 */
export async function startLanguage(around = ""): Promise<void> {
  const chosen = readJson(local, KEY);
  const wanted = [...(typeof chosen === "string" ? [chosen] : []), around, ...browserTags()];
  const found = wanted.map(choiceFor).find((choice) => choice !== undefined);
  // Without a connection the texts stay in English.
  await speak(found ?? ENGLISH).catch(() => {});
}

/** Called when the reader chooses a language. @throws Error if its texts could not be loaded */
export async function chooseLanguage(tag: string): Promise<void> {
  await speak(choiceFor(tag)!);
  keep(local, KEY, tag);
}

async function speak(choice: Choice): Promise<void> {
  const { CATALOGUE } = choice.address
    ? ((await import(choice.address())) as { CATALOGUE: Catalogue })
    : { CATALOGUE: {} };
  useCatalogue(choice.tag, CATALOGUE);
}

/** Has `t` give the texts of a catalogue. */
export function useCatalogue(tag: string, texts: Catalogue): void {
  current = choiceFor(tag)!;
  catalogue = texts;
  locale = browserTags().find((browser) => choiceFor(browser) === current && isLocale(browser)) ?? tag;
  rules = new Intl.PluralRules(locale);
  made.clear();
}

/** Browsers may have tags that are none, such as `en-US@posix`. */
function isLocale(tag: string): boolean {
  try {
    return Intl.PluralRules.supportedLocalesOf(tag).length > 0;
  } catch {
    return false;
  }
}

const browserTags = (): readonly string[] => navigator.languages ?? [navigator.language];

const made = new Map<unknown, unknown>();

/** @returns gives what `make` makes for the present language, such as a format of dates */
export const perLanguage =
  <Value>(make: (locale: string) => Value): (() => Value) =>
  () => {
    if (!made.has(make)) made.set(make, make(locale));
    return made.get(make) as Value;
  };

const numbers = perLanguage((tag) => new Intl.NumberFormat(tag));
export const numberText = (value: number): string => numbers().format(value);

type Values = Readonly<Record<string, string | number>>;

/** A text in the reader's language. @param english with `{name}` for each value */
export function t(english: string, values: Values = {}): string {
  const found = catalogue[english];
  return filled(typeof found === "string" ? found : english, values);
}

/** A text with a number, which is `{n}` in it. @param one its English form for 1 @param other for all other numbers */
export function tn(n: number, one: string, other: string, values: Values = {}): string {
  const found = catalogue[other];
  const category = rules.select(n);
  const english = n === 1 ? one : other;
  const text = typeof found === "object" ? (found[category] ?? found.other) : english;
  return filled(text, { n, ...values });
}

/** A text with elements in it: its parts in the order of the language. */
export function tx<Node>(english: string, values: Readonly<Record<string, Node>>): Array<string | Node> {
  return t(english)
    .split(/\{(\w+)\}/)
    .map((part, at) => (at % 2 === 0 ? part : values[part]!));
}

/** Marks a text in a table that `t` gives later. */
export const phrase = (english: string): string => english;

const filled = (text: string, values: Values): string =>
  text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name] ?? whole;
    return typeof value === "number" ? numberText(value) : value;
  });
