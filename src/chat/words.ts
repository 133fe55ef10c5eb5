// What counts as a word, for whoever searches: the one place where text is taken apart, so that what is looked for, what is
// kept in the index and what is compared agree whatever the storage thinks of letters: SRCH-1, SRCH-3.

export interface Word {
  /** Folded: without case and accents. Letters, digits and marks only, or one emoji. */
  readonly text: string;
  /** Where it stands in the original, in UTF-16 units: its first, and the one after its last. */
  readonly from: number;
  readonly to: number;
  /** Whether it is one character of a script that puts no spaces between words, or an emoji. */
  readonly isGlyph: boolean;
}

/** A word with whatever marks follow its letters, or an emoji. */
const RUN = /([\p{L}\p{N}][\p{L}\p{N}\p{M}]*)|\p{Extended_Pictographic}|\p{Regional_Indicator}/gu;
/** Scripts without spaces between words, and Hangul, whose words carry their particles with them. */
const GLYPHS = String.raw`\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{sc=Hangul}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}\p{sc=Tibetan}`;
const GLYPH = new RegExp(`[${GLYPHS}]`, "u");
const PIECE = new RegExp(`[${GLYPHS}]|[^${GLYPHS}]+`, "gu");
/** Those that fold to themselves, which are most of what such texts are made of. */
const FOLDED_GLYPH = /^[\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3]$/;
const ASCII = /^[\0-\x7f]*$/;
/**
 * Accents, the vowel points that Hebrew and Arabic are mostly written without, and what only says how a character is to be drawn.
 * Marks of other scripts are letters to them.
 */
const ACCENTS =
  /[\u0300-\u036f]|[\u0591-\u05c7]|\u0640|[\u064b-\u065f]|\u0670|[\u20d0-\u20ff]|\p{Variation_Selector}/gu;
const NO_WORD = /[^\p{L}\p{N}\p{M}]/gu;

export function wordsIn(text: string): Word[] {
  const words: Word[] = [];
  for (const { 0: found, 1: run, index } of text.matchAll(RUN)) {
    // An emoji is itself: ™ is not the letters that it is made of.
    if (run === undefined) addWord(words, found, { at: index, length: found.length, isGlyph: true });
    else if (ASCII.test(run)) addWord(words, run.toLowerCase(), { at: index, length: run.length, isGlyph: false });
    else addPieces(words, run, index);
  }
  return words;
}

function addPieces(words: Word[], run: string, at: number): void {
  for (const { 0: piece, index } of run.matchAll(PIECE))
    addWord(words, FOLDED_GLYPH.test(piece) ? piece : fold(piece), {
      at: at + index,
      length: piece.length,
      isGlyph: GLYPH.test(piece),
    });
}

interface Place {
  readonly at: number;
  readonly length: number;
  readonly isGlyph: boolean;
}

function addWord(words: Word[], text: string, { at, length, isGlyph }: Place): void {
  if (text !== "") words.push({ text, from: at, to: at + length, isGlyph });
}

/** Upper case first: it spells out what has no capital of its own, such as ß. */
function fold(word: string): string {
  return word
    .normalize("NFKD")
    .replace(ACCENTS, "")
    .toUpperCase()
    .toLowerCase()
    .normalize("NFKD")
    .replace(ACCENTS, "")
    .replaceAll("ς", "σ")
    .normalize("NFKC")
    .replace(NO_WORD, "");
}
