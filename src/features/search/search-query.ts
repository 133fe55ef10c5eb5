// Parses a query into phrases of words, and matches messages with it. The text of a query goes no further: the index is asked for
// terms that are made of its words.
import type { MatchRange, Message } from "../../protocol/chat-events.ts";
import { wordsIn, type Effort, type Word } from "./words.ts";

/** Ranges that a found message carries at most. */
export const MATCHES_MAX = 32;

/** The effort of comparing two words, and of a place that was found, in characters of plain English. */
const COMPARISON_UNITS = 0.25;
const RANGE_UNITS = 4;

/** Words that have to follow on each other. */
export interface Phrase {
  readonly words: readonly Word[];
  /** Whether the last word may go on. */
  readonly isPrefix: boolean;
}

export interface Query {
  /** All of them have to be found. */
  readonly phrases: readonly Phrase[];
  readonly from?: string | undefined;
  /** A user whom the message mentions. */
  readonly mentions?: string | undefined;
}

/** A phrase in quotes, closed or not, or a run of characters between spaces. */
const PART = /["“”„]([^"“”„]*)(["“”„]?)|[^\s"“”„]+/gu;

/** @returns no phrase of a text of nothing but spaces and punctuation */
export function parsePhrases(text: string): Phrase[] {
  const phrases: Phrase[] = [];
  for (const { 0: part, 1: quoted, 2: closing, index } of text.matchAll(PART)) {
    const words = wordsIn(quoted ?? part);
    // A client that searches while its user types has not got the whole last word yet.
    const isLast = index + part.length === text.length && !closing && !/\s$/u.test(part);
    if (words.length > 0) phrases.push({ words, isPrefix: isLast || (quoted === undefined && part.endsWith("*")) });
  }
  return phrases;
}

/** Compares each phrase once, however often the query has it. */
export function withoutRepeats(phrases: readonly Phrase[]): Phrase[] {
  const nameOf = ({ words, isPrefix }: Phrase): string => JSON.stringify([isPrefix, ...words.map(({ text }) => text)]);
  return [...new Map(phrases.map((phrase) => [nameOf(phrase), phrase])).values()];
}

/**
 * @param effort grows by the work that it took
 * @returns where the message matches, `undefined` where it does not
 */
export function match(
  { phrases, from, mentions }: Query,
  message: Message,
  effort: Effort = { units: 0 },
): MatchRange[] | undefined {
  if (message.deleted || (from !== undefined && message.sender !== from)) return undefined;
  if (mentions !== undefined && !message.mentions?.includes(mentions)) return undefined;
  if (phrases.length === 0) return [];
  const words = wordsIn(message.content, effort);
  const ranges: MatchRange[] = [];
  for (const phrase of phrases) {
    const found = rangesOf(phrase, words, effort);
    if (found.length === 0) return undefined;
    ranges.push(...found);
  }
  return merged(ranges).slice(0, MATCHES_MAX);
}

function rangesOf(phrase: Phrase, words: readonly Word[], effort: Effort): MatchRange[] {
  const { length } = phrase.words;
  const ranges: MatchRange[] = [];
  effort.units += words.length * length * COMPARISON_UNITS;
  for (let at = 0; at + length <= words.length; at++)
    if (standsAt(phrase, words, at)) ranges.push([words[at]!.from, words[at + length - 1]!.to]);
  effort.units += ranges.length * RANGE_UNITS;
  return ranges;
}

function standsAt({ words: sought, isPrefix }: Phrase, words: readonly Word[], at: number): boolean {
  return sought.every(({ text, isGlyph }, nth) => {
    const word = words[at + nth]!;
    if (word.text === text) return true;
    return isPrefix && nth === sought.length - 1 && !isGlyph && !word.isGlyph && word.text.startsWith(text);
  });
}

/** Ascending, with overlapping ranges joined. */
function merged(ranges: readonly MatchRange[]): MatchRange[] {
  const all: MatchRange[] = [];
  for (const [from, to] of ranges.toSorted((a, b) => a[0] - b[0] || a[1] - b[1])) {
    const last = all.at(-1);
    if (last && from < last[1]) all[all.length - 1] = [last[0], Math.max(last[1], to)];
    else all.push([from, to]);
  }
  return all;
}
