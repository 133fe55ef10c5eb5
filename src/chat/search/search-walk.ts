// One search on its way through the log, from the newest message back, a bounded piece at a time: what is indexed block by
// block as the index proposes, what is not message by message; and what is old enough is indexed in passing.
import type { FoundMessage, Message } from "../../protocol/chat-events.ts";
import type { MessageLog } from "../log/message-log.ts";
import {
  termsOf,
  termsSought,
  type IndexBlock,
  type IndexPart,
  type IndexShape,
  type IndexTerm,
  type SearchIndex,
} from "./search-index.ts";
import { match, type Query } from "./search-query.ts";
import type { Effort } from "./words.ts";

/** So much effort is as much work as an ordinary message. */
const UNITS_PER_MESSAGE = 100;
/** Asking the index about one of its parts is as much work as so many messages. */
const ASKING_MESSAGES = 16;
/** Where nothing is known of how heavy the messages are, so small a part of a piece is read first. */
const FIRST_PIECE_PART = 8;

export interface WalkParts {
  readonly log: MessageLog;
  readonly index: SearchIndex;
  readonly query: Query;
  /** Exclusive. */
  readonly before: number;
  /** The oldest place that is looked at. */
  readonly since: number;
  readonly limit: number;
  /** The index could not be used: what it should have known is read instead. */
  readonly report: (problem: string, error: unknown) => void;
}

export class SearchWalk {
  readonly #walk: WalkParts;
  readonly #terms: readonly IndexTerm[];
  readonly #found: FoundMessage[] = [];
  #before: number;
  /** Messages looked at or indexed so far, about; those that take more effort count as several. */
  work = 0;
  #isIndexBroken = false;
  /** Places to read at once. */
  #piece: number;

  constructor(walk: WalkParts) {
    this.#walk = walk;
    this.#before = Math.min(walk.before, walk.log.lastSeq + 1);
    this.#terms = termsSought(walk.query);
    this.#piece = Math.ceil(walk.index.shape.pieceMessages / FIRST_PIECE_PART);
  }

  /** Newest first. */
  get found(): readonly FoundMessage[] {
    return this.#found;
  }

  /** Everything from here on has been looked at. */
  get before(): number {
    return this.#before;
  }

  /** Whether there are older messages to look at. */
  get hasMore(): boolean {
    return this.#before > this.#oldest;
  }

  get isDone(): boolean {
    return !this.hasMore || this.#found.length >= this.#walk.limit;
  }

  /**
   * Goes on, by the work of about so many messages, and of one message at most besides. What happened to log and index since the last time does no harm.
   * @throws whatever reading the log throws
   */
  go(messages: number): void {
    const until = this.work + messages;
    while (!this.isDone && this.work < until) this.#step(until);
  }

  /** A message that was found, as it stands now; `undefined` if it is no longer what was looked for. */
  again(found: FoundMessage): FoundMessage | undefined {
    const [message] = this.#messages(found.seq, found.seq);
    // Most say what they said, and a page of long ones would be much work in one turn.
    if (message && !message.deleted && message.content === found.content) return { ...message, matches: found.matches };
    return message && this.#foundIn(message);
  }

  get #oldest(): number {
    return Math.max(this.#walk.log.firstSeq, this.#walk.since);
  }

  #step(until: number): void {
    const last = this.#before - 1;
    const { index, log } = this.#walk;
    const parts = this.#isIndexBroken ? [] : index.parts;
    const part = parts.findLast(({ firstSeq }) => firstSeq <= last);
    if (part && part.lastSeq >= last) return this.#walkPart(part, until);
    const next = parts.find(({ firstSeq }) => firstSeq > last);
    const gap = {
      firstSeq: Math.max(log.firstSeq, part ? part.lastSeq + 1 : 0),
      lastSeq: next ? next.firstSeq - 1 : log.lastSeq,
    };
    const chunk = chunkOf(gap, last, index.shape);
    const isWorthIt = isWorthIndexing(chunk, next ? undefined : log.lastSeq, index.shape);
    if (isWorthIt && !this.#isIndexBroken && this.#makesRoom(chunk)) this.#index(chunk);
    else this.#readPiece(chunk, until);
  }

  /** Where there are as many parts as may be, the oldest one goes for a newer one. */
  #makesRoom({ firstSeq }: IndexPart): boolean {
    const { index } = this.#walk;
    const [oldest] = index.parts;
    if (!oldest || index.parts.length < index.shape.partsMax) return true;
    if (oldest.firstSeq > firstSeq) return false;
    this.#use(() => index.drop(oldest));
    return !this.#isIndexBroken;
  }

  /** What cannot be indexed is read; what cannot be read fails the search. */
  #index({ firstSeq, lastSeq }: IndexPart): void {
    const { index } = this.#walk;
    const { blockMessages, blockChars, partUnits } = index.shape;
    const effort: Effort = { units: 0 };
    const blocks: IndexBlock[] = [];
    let end = firstSeq - 1;
    while (end < lastSeq && effort.units < partUnits) {
      const blockEnd = Math.min(lastSeq, end + blockMessages);
      const messages = this.#messages(end + 1, blockEnd);
      const next = blocksOf(messages, { charsMax: blockChars, unitsMax: partUnits }, effort);
      blocks.push(...next.blocks);
      end = next.cutAt ?? blockEnd;
    }
    this.#work(end - firstSeq + 1, effort);
    this.#use(() => index.add({ firstSeq, lastSeq: end }, blocks));
  }

  #work(places: number, { units }: Effort): void {
    this.work += Math.max(1, places, Math.floor(units / UNITS_PER_MESSAGE));
  }

  /** Fewer at once where they are heavy. */
  #readPiece({ firstSeq }: IndexPart, until: number): void {
    const { pieceMessages, partUnits } = this.#walk.index.shape;
    const units = this.#read(Math.max(firstSeq, this.#before - this.#piece), until);
    const isHeavy = units > partUnits / 2;
    this.#piece = isHeavy ? Math.max(1, this.#piece >> 1) : Math.min(pieceMessages, this.#piece * 2);
  }

  #use<Result>(use: () => Result): Result | undefined {
    try {
      return use();
    } catch (error) {
      this.#isIndexBroken = true;
      this.#walk.report("the search index could not be used", error);
      return undefined;
    }
  }

  #walkPart(part: IndexPart, until: number): void {
    const { index } = this.#walk;
    const blocks = this.#use(() => index.find(part, this.#terms, this.#before));
    // Whoever searches next makes a better one.
    if (!blocks) {
      this.#use(() => index.drop(part));
      return;
    }
    for (const firstSeq of blocks) {
      if (this.isDone || this.work >= until) return;
      this.#before = Math.min(this.#before, firstSeq + index.shape.blockMessages, part.lastSeq + 1);
      this.#read(firstSeq, until);
      if (this.#before > firstSeq) return;
    }
    // Not before the first part: each turn has to get on, however little it may look at.
    this.work += ASKING_MESSAGES;
    if (!this.isDone) this.#before = Math.max(part.firstSeq, this.#oldest);
  }

  /** Looks at what was not looked at yet from a place on, as far back as the turn reaches. @returns what it took */
  #read(from: number, until: number): number {
    const first = Math.max(from, this.#oldest);
    const effort: Effort = { units: 0 };
    const unitsMax = (until - this.work) * UNITS_PER_MESSAGE;
    const before = this.#before;
    const end = this.#take(this.#messages(first, before - 1).reverse(), effort, unitsMax);
    this.#before = end ?? Math.min(before, first);
    this.#work(before - this.#before, effort);
    return effort.units;
  }

  /** @param messages newest first @returns the place of the last one, where not all were looked at */
  #take(messages: readonly Message[], effort: Effort, unitsMax: number): number | undefined {
    for (const message of messages) {
      const found = this.#foundIn(message, effort);
      if (found) this.#found.push(found);
      if (this.#found.length >= this.#walk.limit || effort.units >= unitsMax) return message.seq;
    }
    return undefined;
  }

  #foundIn(message: Message, effort?: Effort): FoundMessage | undefined {
    const matches = match(this.#walk.query, message, effort);
    return matches && { ...message, matches };
  }

  #messages(first: number, last: number): Message[] {
    const messages: Message[] = [];
    for (const message of this.#walk.log.ascending(first - 1)) {
      if (message.seq > last) break;
      messages.push(message);
    }
    return messages;
  }
}

/**
 * One block, or several where it would be too long.
 * @returns besides, the place of the last message where the effort was too much for all of them
 */
function blocksOf(
  messages: readonly Message[],
  { charsMax, unitsMax }: { readonly charsMax: number; readonly unitsMax: number },
  effort: Effort,
): { readonly blocks: readonly IndexBlock[]; readonly cutAt?: number } {
  const blocks: Array<{ readonly firstSeq: number; readonly terms: Set<string> }> = [];
  const filled = (): readonly IndexBlock[] => blocks.filter(({ terms }) => terms.size > 0);
  let chars = Infinity;
  for (const message of messages) {
    chars += message.content.length;
    if (chars > charsMax) {
      blocks.push({ firstSeq: message.seq, terms: new Set() });
      chars = message.content.length;
    }
    for (const term of termsOf(message, effort)) blocks.at(-1)!.terms.add(term);
    if (effort.units >= unitsMax) return { blocks: filled(), cutAt: message.seq };
  }
  return { blocks: filled() };
}

/** The part that would hold a place of a gap. */
function chunkOf({ firstSeq, lastSeq }: IndexPart, seq: number, { partMessages }: IndexShape): IndexPart {
  const first = firstSeq + Math.floor((seq - firstSeq) / partMessages) * partMessages;
  return { firstSeq: first, lastSeq: Math.min(first + partMessages - 1, lastSeq) };
}

/** @param newestSeq where the log ends; `undefined` in a gap between parts, which never fills up */
function isWorthIndexing({ firstSeq, lastSeq }: IndexPart, newestSeq: number | undefined, shape: IndexShape): boolean {
  const length = lastSeq - firstSeq + 1;
  if (newestSeq === undefined) return length >= shape.pieceMessages;
  return length === shape.partMessages && lastSeq <= newestSeq - shape.unindexedMessages;
}
