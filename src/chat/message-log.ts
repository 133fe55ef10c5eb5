// What a chat room asks of its storage. The room decides; a log keeps and finds.
import type { Message } from "../protocol/chat-events.ts";

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

export interface MessageLog {
  /** Names this log among all there ever were; part of every message's id. */
  readonly epoch: string;
  /** A secret of this log's own, which signs what clients are given to come back with. */
  readonly key: string;
  /** The newest message's `seq`, 0 while there is none. */
  readonly lastSeq: number;
  /** The oldest `seq` that is still kept; `lastSeq + 1` while there is none. */
  readonly firstSeq: number;

  /**
   * Keeps a batch, whole or not at all. Its `seq` values follow on `lastSeq` without a gap.
   * @throws whatever the storage throws; nothing is kept then
   */
  append(batch: readonly Message[]): void;

  page(query: PageQuery): Page;

  /** Messages from `sinceMs` (milliseconds since 1970) on, newest first. Lazy: stop when you have enough. */
  newest(sinceMs: number): Iterable<Message>;
}
