// What a chat room asks of its storage. The room decides; a log keeps and finds.
import type { Message } from "../../protocol/chat-events.ts";
import type { Change, Kept } from "./change.ts";

export interface PageQuery {
  /** Exclusive bounds; at most one of them. Without any: the newest messages. */
  readonly before?: number;
  readonly after?: number;
  readonly limit: number;
}

export interface Page {
  /** Ascending by `seq`. */
  readonly messages: readonly Message[];
  /** Whether there are more in the direction of the query. */
  readonly hasMore: boolean;
}

/** That a message changed, and when, in the order of changes. */
export interface ChangedMessage {
  readonly seq: number;
  readonly rev: number;
}

/**
 * Messages by `seq`, as they stand now: with what became of them since. Places that hold none (burnt ones) are jumped over by everything that reads. Reading
 * throws `UnreadableBatch` when it comes to a batch that this code cannot read, and not before.
 */
export interface MessageLog {
  /** Names this log among all there ever were; part of every message's id. */
  readonly epoch: string;
  /** Names the life of the log (lives.ts) that messages posted from now on are of; part of their ids. */
  readonly life: string;
  /** A secret of this log's own, which signs what clients are given to come back with. */
  readonly key: string;
  /** The newest place that is taken: by a message, or burnt. 0 while there is none. */
  readonly lastSeq: number;
  /** The oldest place that is still kept; `lastSeq + 1` while there is none. */
  readonly firstSeq: number;

  /** The newest message's id; `undefined` while there is none. */
  readonly lastId: string | undefined;

  /**
   * The life of a place: of its message, of the nearest one before it where it holds none, or of what is being said just now where it
   * is beyond the log. `undefined` where that is not known any more.
   */
  lifeAt(seq: number): string | undefined;

  /**
   * Keeps a batch, whole or not at all. Its `seq` values follow on `lastSeq` without a gap. Whatever else is
   * written in the same turn becomes durable with it, or is lost with it.
   * @throws whatever the storage throws; nothing is kept then
   */
  append(batch: readonly Message[]): void;

  /**
   * Makes durable how far messages may be seen before they are stored: whoever opens this log next begins
   * behind `seq`, or behind its newest message. Takes back an earlier, higher one.
   */
  reserve(seq: number): void;

  /** Takes all places up to `seq`: messages that were seen there could not be stored. Reserved they are already. */
  burn(seq: number): void;

  /** Whether there is a message at this place. */
  has(seq: number): boolean;

  /** The message at this place as it was posted, and what became of it. */
  find(seq: number): Kept | undefined;

  /**
   * Keeps what became of a message, in place of what was kept of that before: whole or not at all. Where it was
   * deleted, what it said is gone from the storage. It is forgotten with the message.
   * @param rev the change's own place among all changes
   * @throws whatever the storage throws; nothing is changed then
   */
  keep(seq: number, rev: number, change: Change): void;

  /** Messages whose latest changes have a higher `rev`, the lowest first. */
  changedAfter(rev: number, limit: number): ChangedMessage[];

  /** Reads no further than the page goes. */
  page(query: PageQuery): Page;

  /**
   * Messages behind the place `after`, oldest first. Lazy, and safe to go on with after an await: it holds a few
   * batches at a time, sees what is appended meanwhile and goes on behind what is trimmed.
   */
  ascending(after: number): Iterable<Message>;

  /** Messages from `sinceMs` (milliseconds since 1970) on, newest first. Lazy: stop when you have enough. */
  newest(sinceMs: number): Iterable<Message>;

  /** When the oldest messages will be too old to be kept, in ms since 1970; `undefined` while there are none. */
  readonly trimDueMs: number | undefined;

  /** Forgets what is more or older than is to be kept. Costs nothing where there is nothing to forget. */
  trim(nowMs: number): void;
}
