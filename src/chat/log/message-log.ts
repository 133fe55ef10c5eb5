// The message log that a chat room needs: the room decides, the log stores and finds. Implemented by
// src/objects/sql/sql-message-log.ts.
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

/** A changed message, and its position in the order of changes. */
export interface ChangedMessage {
  readonly seq: number;
  readonly rev: number;
}

/**
 * Messages by `seq`, with their changes. Readers pass over skipped seqs. Reading throws
 * `UnreadableBatch` when it comes to a batch that this code cannot read, and not before.
 */
export interface MessageLog {
  /** Names this log among all there ever were; part of every message's id. */
  readonly epoch: string;
  /** The incarnation of the log (incarnations.ts) for messages posted from now on; part of their ids. */
  readonly incarnation: string;
  /** A secret of this log's own, which signs private session ids and the keys of files. */
  readonly key: string;
  /** The newest seq that is taken: by a message, or skipped. 0 while there is none. */
  readonly lastSeq: number;
  /** The oldest seq that is still kept; `lastSeq + 1` while there is none. */
  readonly firstSeq: number;

  /** The newest message's id; `undefined` while there is none. */
  readonly lastId: string | undefined;

  /**
   * The incarnation in which a seq was taken: that of its message, or of the nearest one before it; beyond the log, the present incarnation.
   * `undefined` where that is not known any more.
   */
  incarnationAt(seq: number): string | undefined;

  /**
   * Keeps a batch, whole or not at all. Its `seq` values follow on `lastSeq` without a gap. All writes of the
   * same turn become durable with it, or are lost with it.
   * @throws errors of the storage; nothing is kept then
   */
  append(batch: readonly Message[]): void;

  /**
   * Reserves seqs for messages that are delivered before they are stored: the next object that opens this log begins behind
   * `seq`, or behind its newest message. Replaces an earlier reservation, also a higher one.
   */
  reserve(seq: number): void;

  /** Skips all seqs up to this one, which are reserved: messages were delivered with them and could not be stored. */
  skip(seq: number): void;

  /** Whether there is a message with this seq. */
  has(seq: number): boolean;

  /** The message with this seq as it was posted, and its change. */
  find(seq: number): Kept | undefined;

  /**
   * Stores the change of a message in place of its earlier one: whole or not at all. The text of a deleted message leaves the
   * storage. A change is trimmed with its message.
   * @param rev the change's own position among all changes
   * @throws errors of the storage; nothing is changed then
   */
  keep(seq: number, rev: number, change: Change): void;

  /** Messages whose latest changes have a higher `rev`, the lowest first. */
  changedAfter(rev: number, limit: number): ChangedMessage[];

  /** Reads no further than the page goes. */
  page(query: PageQuery): Page;

  /**
   * Messages after a seq, oldest first. Lazy, and safe to go on with after an await: it holds a few
   * batches at a time, sees messages appended meanwhile and goes on behind trimmed ones.
   */
  ascending(after: number): Iterable<Message>;

  /** Messages before a seq, newest first. Lazy: stop when you have enough. */
  descending(before: number): Iterable<Message>;

  /** The time at which the oldest messages are too old, in ms since 1970; `undefined` while there are none. */
  readonly trimDueMs: number | undefined;

  /** Drops messages beyond the retention. Costs nothing where there are none. */
  trim(nowMs: number): void;
}

/** Messages from `sinceMs` (milliseconds since 1970) on, newest first. Lazy. */
export function* newestSince(log: Pick<MessageLog, "descending">, sinceMs: number): Iterable<Message> {
  for (const message of log.descending(Infinity)) {
    if (message.timestamp < sinceMs) return;
    yield message;
  }
}
