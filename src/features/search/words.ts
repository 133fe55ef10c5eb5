// Splits text into words for search: the only place that does, so that queries, index and matching have the same words
// (SRCH-1, SRCH-3). Called by search-query.ts, indexing.ts and searching.ts.

import { UNSPACED } from "../../protocol/text/characters.ts";

export interface Word {
  /** Folded: without case and accents. Letters, digits and marks only, or one emoji. */
  readonly text: string;
  /** Where it stands in the original, in UTF-16 units: its first, and the one after its last. */
  readonly from: number;
  readonly to: number;
  /** Whether it is one character of a script that puts no spaces between words, or an emoji. */
  readonly isGlyph: boolean;
}

/** A word with the marks that follow its letters, or an emoji. */
const RUN = /([\p{L}\p{N}][\p{L}\p{N}\p{M}]*)|\p{Extended_Pictographic}|\p{Regional_Indicator}/gu;
const GLYPH = new RegExp(`[${UNSPACED}]`, "u");
const PIECE = new RegExp(`[${UNSPACED}]|[^${UNSPACED}]+`, "gu");
/** The most frequent of them, which fold to themselves. */
const FOLDED_GLYPH = /^[\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3]$/;
const ASCII = /^[\0-\x7f]*$/;
/**
 * Accents, the vowel points that Hebrew and Arabic are mostly written without, and characters that only choose how another one is drawn.
 * Marks of other scripts are letters to them.
 */
const ACCENTS =
  /[\u0300-\u036f]|[\u0591-\u05c7]|\u0640|[\u064b-\u065f]|\u0670|[\u20d0-\u20ff]|\p{Variation_Selector}/gu;
const NO_WORD = /[^\p{L}\p{N}\p{M}]/gu;
/**
 * Latin, Greek, Cyrillic, Hebrew and Arabic with their accents, and the forms of them that are one character for several: here
 * a word folds to what its characters fold to. Elsewhere neighbours make one of two, or change places.
 */
const APART =
  /^(?:[\0-\u036f\u0370-\u0482\u048a-\u052f\u0591-\u05c7\u05d0-\u05ea\u0621-\u065f\u0670-\u06d3\u1e00-\u1fff\ufb00-\ufb06\ufb1d-\ufdff\ufe70-\ufefc\uff10-\uff5a])*$/;

/** UTF-16 units of a word that are folded at once: the time for putting marks in order grows with the square of them. */
const FOLDED_AT_ONCE = 64;

/** Work, counted in characters of plain English that are split into words. The other costs were measured against that. */
export interface Effort {
  units: number;
}
/** A character that is a word, and any other word that is not plain English. */
const GLYPH_UNITS = 2;
const PIECE_UNITS = 10;
/** The cost of a word that has to be folded as a whole, and of each of its UTF-16 units. */
const FOLD_UNITS = 20;
const FOLD_CHAR_UNITS = 6;

/** @param effort grows by the work that it took */
export function wordsIn(text: string, effort: Effort = { units: 0 }): Word[] {
  effort.units += text.length;
  const words: Word[] = [];
  for (const { 0: found, 1: run, index } of text.matchAll(RUN)) {
    // An emoji is itself: ™ is not the letters that it is made of.
    if (run === undefined) addWord(words, found, { at: index, length: found.length, isGlyph: true });
    else if (ASCII.test(run)) addWord(words, run.toLowerCase(), { at: index, length: run.length, isGlyph: false });
    else addPieces(words, run, index, effort);
  }
  return words;
}

function addPieces(words: Word[], run: string, at: number, effort: Effort): void {
  for (const { 0: piece, index } of run.matchAll(PIECE)) {
    const isPlain = FOLDED_GLYPH.test(piece);
    effort.units += isPlain ? GLYPH_UNITS : PIECE_UNITS;
    const place = { at: at + index, length: piece.length, isGlyph: isPlain || GLYPH.test(piece) };
    addWord(words, isPlain ? piece : folded(piece, effort), place);
  }
}

interface Place {
  readonly at: number;
  readonly length: number;
  readonly isGlyph: boolean;
}

function addWord(words: Word[], text: string, { at, length, isGlyph }: Place): void {
  if (text !== "") words.push({ text, from: at, to: at + length, isGlyph });
}

/** The folded form of each character that stands alone; there are not more of them than fit in memory. */
const foldedAlone = new Map<string, string>();

function folded(piece: string, effort: Effort): string {
  if (piece.length === 1) return foldAlone(piece);
  if (!APART.test(piece)) return foldWhole(piece, effort);
  let text = "";
  for (let at = 0; at < piece.length; at++) text += foldAlone(piece[at]!);
  return text;
}

function foldAlone(character: string): string {
  let text = foldedAlone.get(character);
  if (text === undefined) foldedAlone.set(character, (text = fold(character)));
  return text;
}

function foldWhole(piece: string, effort: Effort): string {
  effort.units += FOLD_UNITS + FOLD_CHAR_UNITS * piece.length;
  if (piece.length <= FOLDED_AT_ONCE) return fold(piece);
  const characters = Array.from(piece);
  const parts: string[] = [];
  for (let at = 0; at < characters.length; at += FOLDED_AT_ONCE)
    parts.push(fold(characters.slice(at, at + FOLDED_AT_ONCE).join("")));
  return parts.join("");
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
