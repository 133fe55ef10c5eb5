// One search through the log, from the newest message back: a part that is indexed in the blocks that the index proposes, all else
// message by message. Indexes old messages on its way. Called by searching.ts, slice by slice.
import type { FoundMessage, Message } from "../../protocol/chat-events.ts";
import { withChange } from "../../chat/log/change.ts";
import type { MessageLog } from "../../chat/log/message-log.ts";
import { buildPart, chunkOf, isWorthIndexing, termsSought } from "./indexing.ts";
import type { IndexPart, IndexTerm, SearchIndex } from "./search-index.ts";
import { match, type Query } from "./search-query.ts";
import type { Effort } from "./words.ts";

/** The effort of an ordinary message. */
const UNITS_PER_MESSAGE = 100;
/** A query to the index about one of its parts is as much work as so many messages. */
const ASKING_MESSAGES = 16;

export interface RunOptions {
  readonly log: MessageLog;
  readonly index: SearchIndex;
  readonly query: Query;
  /** Exclusive. */
  readonly before: number;
  /** The oldest place that is looked at. */
  readonly sinceSeq: number;
  readonly limit: number;
  /** Called where the index could not be used; the log is read instead. */
  readonly report: (problem: string, error: unknown) => void;
}

export class SearchRun {
  readonly #options: RunOptions;
  readonly #terms: readonly IndexTerm[];
  readonly #found: FoundMessage[] = [];
  #before: number;
  #work = 0;
  #isIndexBroken = false;

  constructor(options: RunOptions) {
    this.#options = options;
    this.#before = Math.min(options.before, options.log.lastSeq + 1);
    this.#terms = termsSought(options.query);
  }

  /** Messages read or indexed so far, about; those that take more effort count as several. */
  get work(): number {
    return this.#work;
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
   * Goes on for the work of reading so many messages; the last step may exceed it by a message, or a part of the index. Log and index may
   * have changed since the last call.
   * @throws what reading the log throws
   */
  go(messages: number): void {
    const until = this.#work + messages;
    while (!this.isDone && this.#work < until) this.#step(until);
  }

  /** A found message as it stands now; `undefined` if it does not match any more. */
  again(found: FoundMessage): FoundMessage | undefined {
    const kept = this.#options.log.find(found.seq);
    if (!kept) return undefined;
    const message = withChange(kept.posted, kept.change);
    // Most have not changed, and matching a page of long ones again would be much work in one slice.
    if (!message.deleted && message.content === found.content) return { ...message, matches: found.matches };
    return this.#matched(message);
  }

  get #oldest(): number {
    return Math.max(this.#options.log.firstSeq, this.#options.sinceSeq);
  }

  /** Searches a part of the index, or reads or indexes a chunk of the gap between two parts. */
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
    const isWorthIt = !this.#isIndexBroken && isWorthIndexing(chunk, next ? undefined : log.lastSeq, index.shape);
    if (!isWorthIt || !this.#indexChunk(chunk)) this.#read(chunk.firstSeq, until);
  }

  /**
   * Indexes a chunk, in place of the oldest part where there are as many as allowed.
   * @returns false where all of them are newer, or the index fails
   */
  #indexChunk(chunk: IndexPart): boolean {
    const { index, log } = this.#options;
    const [oldest] = index.parts;
    if (oldest && index.parts.length >= index.shape.partsMax) {
      if (oldest.firstSeq > chunk.firstSeq) return false;
      this.#use(() => index.drop(oldest));
      if (this.#isIndexBroken) return false;
    }
    const effort: Effort = { units: 0 };
    const { part, blocks } = buildPart(chunk, index.shape, log.ascending(chunk.firstSeq - 1), effort);
    this.#work += workOf(part.lastSeq - part.firstSeq + 1, effort);
    this.#use(() => index.add(part, blocks));
    return true;
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
      if (this.isDone || this.#work >= until) return;
      this.#before = Math.min(this.#before, firstSeq + index.shape.blockMessages, part.lastSeq + 1);
      this.#read(firstSeq, until);
      if (this.#before > firstSeq) return;
    }
    // Counted after the messages are read: otherwise a slice with little work left would end before it has read any.
    this.#work += ASKING_MESSAGES;
    if (!this.isDone) this.#before = Math.max(part.firstSeq, this.#oldest);
  }

  /** Reads back to a place, or as far as the slice reaches. */
  #read(from: number, until: number): void {
    const first = Math.max(from, this.#oldest);
    const before = this.#before;
    const effort: Effort = { units: 0 };
    let end = Math.min(before, first);
    for (const message of this.#options.log.descending(before)) {
      if (message.seq < first) break;
      const found = this.#matched(message, effort);
      if (found) this.#found.push(found);
      const isSliceOver = this.#work + workOf(before - message.seq, effort) >= until;
      if (isSliceOver || this.#found.length >= this.#options.limit) {
        end = message.seq;
        break;
      }
    }
    this.#before = end;
    this.#work += workOf(before - end, effort);
  }

  #matched(message: Message, effort?: Effort): FoundMessage | undefined {
    const matches = match(this.#options.query, message, effort);
    return matches && { ...message, matches };
  }
}

const workOf = (places: number, { units }: Effort): number =>
  Math.max(1, places, Math.floor(units / UNITS_PER_MESSAGE));
