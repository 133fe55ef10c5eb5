// One search through the log, from the newest message back, a bounded piece at a time: indexed messages in the blocks that the index
// proposes, other messages one by one. Indexes old messages on its way. Called by searching.ts, turn by turn.
import type { FoundMessage, Message } from "../../protocol/chat-events.ts";
import type { MessageLog } from "../log/message-log.ts";
import { buildPart, chunkOf, isWorthIndexing } from "./index-builder.ts";
import { termsSought } from "./index-terms.ts";
import type { IndexPart, IndexTerm, SearchIndex } from "./search-index.ts";
import { match, type Query } from "./search-query.ts";
import type { Effort } from "./words.ts";

/** The effort of an ordinary message. */
const UNITS_PER_MESSAGE = 100;
/** A query to the index about one of its parts is as much work as so many messages. */
const ASKING_MESSAGES = 16;
/** The first piece is so much shorter, because its messages may be heavy. */
const FIRST_PIECE_PART = 8;

export interface RunOptions {
  readonly log: MessageLog;
  readonly index: SearchIndex;
  readonly query: Query;
  /** Exclusive. */
  readonly before: number;
  /** The oldest place that is looked at. */
  readonly since: number;
  readonly limit: number;
  /** Called where the index could not be used; the log is read instead. */
  readonly report: (problem: string, error: unknown) => void;
}

export class SearchRun {
  readonly #options: RunOptions;
  readonly #terms: readonly IndexTerm[];
  readonly #found: FoundMessage[] = [];
  #before: number;
  /** Messages read or indexed so far, about; those that take more effort count as several. */
  work = 0;
  #isIndexBroken = false;
  /** Places to read at once. */
  #piece: number;

  constructor(options: RunOptions) {
    this.#options = options;
    this.#before = Math.min(options.before, options.log.lastSeq + 1);
    this.#terms = termsSought(options.query);
    this.#piece = Math.ceil(options.index.shape.pieceMessages / FIRST_PIECE_PART);
  }

  /** Newest first. */
  get found(): readonly FoundMessage[] {
    return this.#found;
  }

  /** Everything from this place on has been searched. */
  get before(): number {
    return this.#before;
  }

  /** Whether there are older messages to search. */
  get hasMore(): boolean {
    return this.#before > this.#oldest;
  }

  get isDone(): boolean {
    return !this.hasMore || this.#found.length >= this.#options.limit;
  }

  /**
   * Goes on by the work of so many messages, and of one more at most. Log and index may have changed since the last call.
   * @throws what reading the log throws
   */
  go(messages: number): void {
    const until = this.work + messages;
    while (!this.isDone && this.work < until) this.#step(until);
  }

  /** A found message as it stands now; `undefined` if it does not match any more. */
  again(found: FoundMessage): FoundMessage | undefined {
    const [message] = this.#messages(found.seq, found.seq);
    // Most have not changed, and matching a page of long ones again would be much work in one turn.
    if (message && !message.deleted && message.content === found.content) return { ...message, matches: found.matches };
    return message && this.#foundIn(message);
  }

  get #oldest(): number {
    return Math.max(this.#options.log.firstSeq, this.#options.since);
  }

  #step(until: number): void {
    const last = this.#before - 1;
    const { index, log } = this.#options;
    const parts = this.#isIndexBroken ? [] : index.parts;
    const part = parts.findLast(({ firstSeq }) => firstSeq <= last);
    if (part && part.lastSeq >= last) return this.#searchPart(part, until);
    const next = parts.find(({ firstSeq }) => firstSeq > last);
    const gap = {
      firstSeq: Math.max(log.firstSeq, part ? part.lastSeq + 1 : 0),
      lastSeq: next ? next.firstSeq - 1 : log.lastSeq,
    };
    const chunk = chunkOf(gap, last, index.shape);
    const isWorthIt = isWorthIndexing(chunk, next ? undefined : log.lastSeq, index.shape);
    if (isWorthIt && !this.#isIndexBroken && this.#makeSpace(chunk)) this.#index(chunk);
    else this.#readPiece(chunk, until);
  }

  /** Drops the oldest part for a newer one where there are as many as allowed. */
  #makeSpace({ firstSeq }: IndexPart): boolean {
    const { index } = this.#options;
    const [oldest] = index.parts;
    if (!oldest || index.parts.length < index.shape.partsMax) return true;
    if (oldest.firstSeq > firstSeq) return false;
    this.#use(() => index.drop(oldest));
    return !this.#isIndexBroken;
  }

  /** @throws what reading the log throws */
  #index(chunk: IndexPart): void {
    const { index } = this.#options;
    const effort: Effort = { units: 0 };
    const { part, blocks } = buildPart(chunk, index.shape, (first, last) => this.#messages(first, last), effort);
    this.#work(part.lastSeq - part.firstSeq + 1, effort);
    this.#use(() => index.add(part, blocks));
  }

  #work(places: number, { units }: Effort): void {
    this.work += Math.max(1, places, Math.floor(units / UNITS_PER_MESSAGE));
  }

  /** Reads fewer messages at once where they are heavy. */
  #readPiece({ firstSeq }: IndexPart, until: number): void {
    const { pieceMessages, partUnits } = this.#options.index.shape;
    const units = this.#read(Math.max(firstSeq, this.#before - this.#piece), until);
    const isHeavy = units > partUnits / 2;
    this.#piece = isHeavy ? Math.max(1, this.#piece >> 1) : Math.min(pieceMessages, this.#piece * 2);
  }

  #use<Result>(use: () => Result): Result | undefined {
    try {
      return use();
    } catch (error) {
      this.#isIndexBroken = true;
      this.#options.report("the search index could not be used", error);
      return undefined;
    }
  }

  #searchPart(part: IndexPart, until: number): void {
    const { index } = this.#options;
    const blocks = this.#use(() => index.find(part, this.#terms, this.#before));
    // The next search indexes it again.
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
    // Only now, because each turn has to get on, however little work it may do.
    this.work += ASKING_MESSAGES;
    if (!this.isDone) this.#before = Math.max(part.firstSeq, this.#oldest);
  }

  /** Searches from a place on, as far back as the turn reaches. @returns the effort */
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

  /** @param messages newest first @returns the place of the last one searched, where not all were */
  #take(messages: readonly Message[], effort: Effort, unitsMax: number): number | undefined {
    for (const message of messages) {
      const found = this.#foundIn(message, effort);
      if (found) this.#found.push(found);
      if (this.#found.length >= this.#options.limit || effort.units >= unitsMax) return message.seq;
    }
    return undefined;
  }

  #foundIn(message: Message, effort?: Effort): FoundMessage | undefined {
    const matches = match(this.#options.query, message, effort);
    return matches && { ...message, matches };
  }

  #messages(first: number, last: number): Message[] {
    const messages: Message[] = [];
    for (const message of this.#options.log.ascending(first - 1)) {
      if (message.seq > last) break;
      messages.push(message);
    }
    return messages;
  }
}
