// The initials of a person's name, for an avatar. Called by the page and by applications.

/** A word: letters and digits with their marks, and apostrophes between them. */
const WORD = /[\p{L}\p{N}][\p{L}\p{M}\p{N}'’\u200C\u200D]*/gu;

/**
 * The first letters of the first and the last word, in capitals. A name without letters has its first digit or emoji, one without either
 * a question mark.
 */
export function initialsOf(name: string): string {
  const words = name.match(WORD) ?? [];
  const letters = words
    .map((word) => PLAIN.exec(word)?.[0] ?? firstOf(word, /^\p{L}/u))
    .filter((letter) => letter !== "");
  const shown = letters.length > 1 ? [letters[0]!, letters.at(-1)!] : letters;
  if (shown.length > 0) return shown.map(capital).join("");
  const sign = firstOf(name, /^\p{N}/u) || firstOf(name, /^\p{So}/u);
  return sign.replaceAll(STACKED, "") || "?";
}

/** A letter of a script in which one code point is one character, if no mark follows. */
const PLAIN = /^[A-Za-z\u00C0-\u024F\u0370-\u052F](?![\p{M}\u200C\u200D])/u;

/** Marks above and below a sign, which may be a tower of them; not those that make an emoji of it. */
const STACKED = /(?![\p{Variation_Selector}\u20E3])[\p{Mn}\p{Me}]/gu;

/** Made once, and for names that need it: to make it takes a phone as long as to draw a page. */
let characters: Intl.Segmenter | undefined;

/** The first character, as a reader counts them, that begins so. */
function firstOf(text: string, begin: RegExp): string {
  characters ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
  for (const { segment } of characters.segment(text)) if (begin.test(segment)) return segment;
  return "";
}

/** One letter with at most the marks that Unicode has it with: some have two for a capital. */
function capital(letter: string): string {
  const [plain = ""] = letter.normalize("NFC");
  const [upper = ""] = plain.toLocaleUpperCase();
  return upper;
}
