// Kinds of characters that the rules about text share, and the one form of an emoji. Called by the rules beside it, by the search, by the
// checks of names and reactions, and by clients that compare reactions.

/**
 * Scripts that put no spaces between words, and Hangul, whose words carry their particles with them: the inside of a class in a regular
 * expression with the flag `u`.
 */
export const UNSPACED = String.raw`\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{sc=Hangul}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}\p{sc=Tibetan}`;

const UNSPACED_CHARACTER = new RegExp(`[${UNSPACED}]`, "u");
/** A letter, a digit, an underscore, or a mark that belongs to one; not a mark that belongs to an emoji. */
const WORD_CHARACTER = /[\p{L}\p{N}_]|(?!\p{Variation_Selector})[\p{Mn}\p{Mc}]/u;

export const isUnspaced = (character: string): boolean => UNSPACED_CHARACTER.test(character);
export const isWord = (character: string): boolean => WORD_CHARACTER.test(character);

/** The whole character that ends at this place; empty at the beginning. */
export function characterBefore(text: string, at: number): string {
  const pair = text.slice(Math.max(0, at - 2), at);
  return /^[\uD800-\uDBFF][\uDC00-\uDFFF]$/.test(pair) ? pair : pair.slice(-1);
}

/** The whole character at this place; empty at the end. */
export const characterAt = (text: string, at: number): string =>
  at < text.length ? String.fromCodePoint(text.codePointAt(at)!) : "";

/** The name of an emoji that the client draws, such as `:party:`. */
const NAME = /^[\w:+-]*$/;
const PRESENTATION = /[\uFE0E\uFE0F]/g;
/** An emoji that is drawn as text unless U+FE0F or a skin tone follows. */
const TEXT_BY_DEFAULT = /(?!\p{Emoji_Presentation})\p{Emoji}(?!\p{Emoji_Modifier})/gu;

/**
 * Unicode's fully qualified form (UTS 51): U+FE0F after each emoji that needs it, and nowhere else. Skin tones, hair and genders are other
 * emoji and stay.
 */
export function canonicalEmoji(emoji: string): string {
  if (NAME.test(emoji)) return emoji;
  return emoji.replaceAll(PRESENTATION, "").replaceAll(TEXT_BY_DEFAULT, "$&\uFE0F");
}
