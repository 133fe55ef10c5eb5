// What searching asks of an index, and what is written into it. An index only proposes: blocks of neighbouring messages that
// may hold what is looked for. The log decides, so an index may be coarse, and be thrown away at any time.
import type { Message } from "../../protocol/chat-events.ts";
import type { Query } from "./search-query.ts";
import { wordsIn, type Effort, type Word } from "./words.ts";

/** Another number wherever `termsOf`, what counts as a word or the shape changes: what was indexed before is then forgotten. */
export const INDEX_VERSION = 2;

/** How an index is laid out, in places of the log. */
export interface IndexShape {
  /** Of a block: a row written for so many messages, and so many to be read for one that is found. */
  readonly blockMessages: number;
  /** UTF-16 units of a block, or one message of more: its terms have to fit a row, and take up to 7 bytes each. */
  readonly blockChars: number;
  /** Of a part, at most: what is indexed in one turn, and indexed anew where one of them changes. */
  readonly partMessages: number;
  /** The newest messages are not indexed: most of what is edited or deleted is among them. */
  readonly unindexedMessages: number;
  /** Read at once where nothing is indexed. A gap between parts that is shorter is not worth a table. */
  readonly pieceMessages: number;
  /** The effort that a part takes: one that takes more ends sooner. */
  readonly partUnits: number;
  /** Parts there are at most, because an object that wakes reads the names of all its tables. What is older is read. */
  readonly partsMax: number;
}

export const INDEX_SHAPE: IndexShape = {
  blockMessages: 64,
  blockChars: 100_000,
  partMessages: 2048,
  unindexedMessages: 1024,
  pieceMessages: 256,
  partUnits: 200_000,
  partsMax: 256,
};

/** Messages next to each other that were indexed together, and are forgotten together. */
export interface IndexPart {
  /** Both included. */
  readonly firstSeq: number;
  readonly lastSeq: number;
}

export interface IndexBlock {
  readonly firstSeq: number;
  /** At least one; none holds a space, or any other ASCII character that is not a letter or a digit. */
  readonly terms: Iterable<string>;
}

export interface IndexTerm {
  readonly text: string;
  /** Whether terms that begin so will do. */
  readonly isPrefix: boolean;
}

export interface SearchIndex {
  readonly shape: IndexShape;
  /** The oldest first; none overlaps another. */
  readonly parts: readonly IndexPart[];

  /**
   * Indexes a part, whole or not at all.
   * @param blocks ascending; read while they are written
   */
  add(part: IndexPart, blocks: Iterable<IndexBlock>): void;

  /** Blocks that begin before a place and hold all of these terms, by their first place, the newest first. */
  find(part: IndexPart, terms: readonly IndexTerm[], before: number): readonly number[];

  /** Leaves nothing of a part. */
  drop(part: IndexPart): void;

  /** The same, and nothing of it in the file either: for what somebody deleted. */
  erase(part: IndexPart): void;
}

/** UTF-16 units of a term that are kept. What is longer is told apart by the log. */
const TERM_LENGTH_MAX = 64;
/** Terms that an index is asked for at once; the longest say most. */
const TERMS_ASKED_MAX = 16;
/** Private characters, which no word has: what begins so is an author, and what an author's id has besides letters. */
const AUTHOR = "\ue000";
const OTHER = "\ue001";

const authorTerm = (user: string): string => AUTHOR + user.replace(/[^A-Za-z0-9\u0080-\uffff]/g, OTHER);
const clip = (text: string): string => text.slice(0, TERM_LENGTH_MAX);

/**
 * Under which terms a message is found. Of glyphs each two neighbours are one term, and the last one is another.
 * @param effort grows by what it took
 */
export function* termsOf({ content, sender, deleted }: Message, effort: Effort): Iterable<string> {
  if (deleted) return;
  yield clip(authorTerm(sender));
  const words = wordsIn(content, effort);
  for (const [at, { text, isGlyph }] of words.entries()) {
    const next = isGlyph ? glyphAt(words, at + 1) : undefined;
    yield clip(next ? text + next.text : text);
  }
}

function glyphAt(words: readonly Word[], at: number): Word | undefined {
  return words[at]?.isGlyph ? words[at] : undefined;
}

/** What every message has that matches the query. */
export function termsSought({ phrases, from }: Query): IndexTerm[] {
  const terms = phrases.flatMap(({ words, isPrefix }) =>
    words.flatMap((_word, at) => termSought(words, at, isPrefix && at === words.length - 1)),
  );
  if (from !== undefined) terms.push({ text: clip(authorTerm(from)), isPrefix: false });
  const different = new Map(terms.map((term) => [`${term.isPrefix} ${term.text}`, term]));
  return [...different.values()].sort((a, b) => b.text.length - a.text.length).slice(0, TERMS_ASKED_MAX);
}

function termSought(words: readonly Word[], at: number, isPrefix: boolean): IndexTerm[] {
  const { text, isGlyph } = words[at]!;
  if (!isGlyph) return [{ text: clip(text), isPrefix }];
  const next = glyphAt(words, at + 1);
  if (next) return [{ text: clip(text + next.text), isPrefix: false }];
  // The last one of several is in the term of the one before it.
  return glyphAt(words, at - 1) ? [] : [{ text: clip(text), isPrefix: true }];
}
