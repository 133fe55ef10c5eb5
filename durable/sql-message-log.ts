// A room's log in the SQLite of its Durable Object: one row per batch, because rows written are what a
// chat room is billed for. Source: https://developers.cloudflare.com/durable-objects/api/sqlite-storage-api/
import { decodeBatch, encodeBatch } from "../src/chat/batch-format.ts";
import type { MessageLog, Page, PageQuery } from "../src/chat/message-log.ts";
import type { Message } from "../src/protocol/chat-events.ts";
import { nameLog } from "./log-name.ts";

interface BatchRow extends Record<string, SqlStorageValue> {
  first_seq: number;
  last_seq: number;
  body: string;
}

/** Batches touched by one page at most are few; this bounds a page over single-message batches too. */
const DESCENDING = "SELECT first_seq, last_seq, body FROM batches WHERE first_seq < ? ORDER BY first_seq DESC";
const ASCENDING = "SELECT first_seq, last_seq, body FROM batches WHERE first_seq >= ? ORDER BY first_seq";

export class SqlMessageLog implements MessageLog {
  readonly epoch: string;
  readonly key: string;
  readonly #sql: SqlStorage;
  readonly #room: string;
  #lastSeq: number;
  #firstSeq: number;

  /** @param newName names the log if it does not exist yet, and makes its key: what nobody can guess */
  constructor(sql: SqlStorage, room: string, newName: () => string) {
    this.#sql = sql;
    this.#room = room;
    sql.exec(
      "CREATE TABLE IF NOT EXISTS batches (first_seq INTEGER PRIMARY KEY, last_seq INTEGER NOT NULL, body TEXT NOT NULL)",
    );
    ({ epoch: this.epoch, key: this.key } = nameLog(sql, newName));
    const [newest] = sql.exec<BatchRow>(`${DESCENDING} LIMIT 1`, Number.MAX_SAFE_INTEGER);
    const [oldest] = sql.exec<BatchRow>(`${ASCENDING} LIMIT 1`, 0);
    this.#lastSeq = newest?.last_seq ?? 0;
    this.#firstSeq = oldest?.first_seq ?? 1;
  }

  get lastSeq(): number {
    return this.#lastSeq;
  }

  get firstSeq(): number {
    return this.#firstSeq;
  }

  append(batch: readonly Message[]): void {
    const firstSeq = this.#lastSeq + 1;
    const lastSeq = this.#lastSeq + batch.length;
    this.#sql.exec(
      "INSERT INTO batches (first_seq, last_seq, body) VALUES (?, ?, ?)",
      firstSeq,
      lastSeq,
      encodeBatch(batch),
    );
    this.#lastSeq = lastSeq;
  }

  page({ before, after, limit }: PageQuery): Page {
    if (after !== undefined) return this.#pageAfter(after, limit);
    const found: Message[] = [];
    for (const message of this.#descending(before ?? this.#lastSeq + 1)) {
      if (found.length === limit) return { messages: found.reverse(), hasMore: true };
      found.push(message);
    }
    return { messages: found.reverse(), hasMore: false };
  }

  #pageAfter(after: number, limit: number): Page {
    // The batch that holds `after` may hold the next messages too.
    const [start] = this.#sql.exec<BatchRow>(`${DESCENDING} LIMIT 1`, after + 1);
    const found: Message[] = [];
    for (const row of this.#sql.exec<BatchRow>(ASCENDING, start?.first_seq ?? 0)) {
      if (row.last_seq <= after) continue;
      for (const message of this.#decode(row)) {
        if (message.seq <= after) continue;
        if (found.length === limit) return { messages: found, hasMore: true };
        found.push(message);
      }
    }
    return { messages: found, hasMore: false };
  }

  *newest(sinceMs: number): Iterable<Message> {
    for (const message of this.#descending(this.#lastSeq + 1)) {
      if (message.timestamp < sinceMs) return;
      yield message;
    }
  }

  /** Messages below `before`, newest first; rows are read as they are needed. */
  *#descending(before: number): Iterable<Message> {
    for (const row of this.#sql.exec<BatchRow>(DESCENDING, before)) {
      for (const message of this.#decode(row).reverse()) if (message.seq < before) yield message;
    }
  }

  #decode(row: BatchRow): Message[] {
    return decodeBatch(row.body, { room: this.#room, epoch: this.epoch, firstSeq: row.first_seq });
  }
}
