// Makes the index of a search: chooses the messages that are worth indexing, and lists their terms. Called by search-run.ts: a
// search indexes the old messages that it comes across, so a room that is never searched is never indexed.
import type { Message } from "../../protocol/chat-events.ts";
import type { IndexBlock, IndexPart, IndexShape, IndexTerm } from "./search-index.ts";
import type { Query } from "./search-query.ts";
import { wordsIn, type Effort, type Word } from "./words.ts";

/** UTF-16 units of a term that are kept: the search compares longer words when it reads the log. */
const TERM_LENGTH_MAX = 64;
/** Terms that an index is asked for at once; the longest narrow it down most. */
const TERMS_ASKED_MAX = 16;
/** Private characters, which no word has: the first begins an author, the other replaces ASCII but letters and digits in an author's id. */
const AUTHOR = "\ue000";
const OTHER = "\ue001";

const authorTerm = (user: string): string => AUTHOR + user.replace(/[^A-Za-z0-9\u0080-\uffff]/g, OTHER);
const clip = (text: string): string => text.slice(0, TERM_LENGTH_MAX);

/** The part that a place in a gap between parts would belong to. */
export function chunkOf({ firstSeq, lastSeq }: IndexPart, seq: number, { partMessages }: IndexShape): IndexPart {
  const first = firstSeq + Math.floor((seq - firstSeq) / partMessages) * partMessages;
  return { firstSeq: first, lastSeq: Math.min(first + partMessages - 1, lastSeq) };
}

/** @param newestSeq where the log ends; `undefined` in a gap between parts, which gets no more messages */
export function isWorthIndexing(
  { firstSeq, lastSeq }: IndexPart,
  newestSeq: number | undefined,
  shape: IndexShape,
): boolean {
  const length = lastSeq - firstSeq + 1;
  if (newestSeq === undefined) return length >= shape.gapMessagesMin;
  return length === shape.partMessages && lastSeq <= newestSeq - shape.unindexedMessages;
}

/**
 * @param messages ascending, from the first place of the part on
 * @param effort grows by the work that it took
 * @returns the part, which ends sooner where the effort was enough for one part; and its blocks
 */
export function buildPart(
  { firstSeq, lastSeq }: IndexPart,
  { blockMessages, blockChars, partUnits }: IndexShape,
  messages: Iterable<Message>,
  effort: Effort,
): { readonly part: IndexPart; readonly blocks: readonly IndexBlock[] } {
  const blocks: Array<{ readonly firstSeq: number; readonly terms: Set<string> }> = [];
  let chars = 0;
  let end = lastSeq;
  for (const message of messages) {
    if (message.seq > lastSeq) break;
    let block = blocks.at(-1);
    chars += message.content.length;
    if (!block || message.seq >= block.firstSeq + blockMessages || chars > blockChars) {
      block = { firstSeq: message.seq, terms: new Set() };
      blocks.push(block);
      chars = message.content.length;
    }
    for (const term of termsOf(message, effort)) block.terms.add(term);
    if (effort.units >= partUnits) {
      end = message.seq;
      break;
    }
  }
  return { part: { firstSeq, lastSeq: end }, blocks: blocks.filter(({ terms }) => terms.size > 0) };
}

/**
 * The terms of one message. Of glyphs, each two neighbours are one term, and the last one is another.
 * @param effort grows by the work that it took
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

/** Terms that every matching message has. */
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
