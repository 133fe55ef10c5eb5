// A room's log in the SQLite of its Durable Object: one row per batch, because a chat room is billed for rows written. Source:
// https://developers.cloudflare.com/durable-objects/api/sqlite-storage-api/
//
// Changes of messages are in tables of their own; every reader gets messages with their changes through `#messagesOf`. A row is
// rewritten only where one of its messages was deleted.
import { decodeBatch, encodeBatch, incarnationOfBatch } from "../../chat/log/batch-format.ts";
import { emptied, withChange, type Change, type Kept } from "../../chat/log/change.ts";
import { Incarnations, nameIncarnation } from "../../storage/incarnations.ts";
import { messageId } from "../../protocol/message.ts";
import type { ChangedMessage, MessageLog, Page, PageQuery } from "../../chat/log/message-log.ts";
import { agedAtMs, beginSegment, countExpired, isFull, type Retention } from "../../chat/log/segments.ts";
import type { Message } from "../../protocol/chat-events.ts";
import { ChangeTables } from "./change-tables.ts";
import { nameLog, type LogName } from "../../socketio/object/log-name.ts";
import { LogSegments, type BatchRow } from "./log-segments.ts";
import { ReservedSeq } from "./reserved-seq.ts";

export interface MessageLogOptions {
  readonly room: string;
  readonly retention: Retention;
  readonly nowMs: number;
  /** Makes an unguessable name for a new log, and its key. */
  readonly newName: () => string;
}

export class SqlMessageLog implements MessageLog {
  readonly #sql: SqlStorage;
  readonly #options: MessageLogOptions;
  readonly #segments: LogSegments;
  readonly #changes: ChangeTables;
  readonly #reserved: ReservedSeq;
  #name: LogName | undefined;
  #lastSeq: number;
  readonly #incarnations: Incarnations;
  /** The batch whose incarnation was looked up last: many ask for the same. */
  #lookedUp: { readonly from: number; readonly to: number; readonly incarnation: string } | undefined;
  /** Messages stored so far, counted as the segments count them. */
  #stored: number;

  constructor(storage: DurableObjectStorage, options: MessageLogOptions) {
    this.#sql = storage.sql;
    this.#options = options;
    this.#segments = new LogSegments(storage);
    this.#changes = new ChangeTables(storage, this.#segments);
    this.#reserved = new ReservedSeq(storage.sql, this.#segments.tables);
    const segment = this.#segments.all.at(-1);
    const newest = this.#segments.newest();
    this.#stored =
      segment && newest ? segment.storedBefore + newest.last_seq + 1 - segment.firstSeq - newest.skipped : 0;
    this.#lastSeq = Math.max(newest?.last_seq ?? 0, this.#reserved.seq);
    this.#incarnations = new Incarnations({
      begin: (before) => nameIncarnation(options.nowMs, options.newName(), before),
      lastSeq: () => this.#lastSeq,
      stored: (seq) => this.#storedIncarnation(seq),
    });
  }

  get epoch(): string {
    return this.#keepName().epoch;
  }

  get key(): string {
    return this.#keepName().key;
  }

  /** Names the log at its first write, or when its name is read: a room that is only looked at stores nothing (API-13). */
  #keepName(): LogName {
    return (this.#name ??= nameLog(this.#sql, this.#options.newName));
  }

  /** Begins with the first read of this value: a look at a room begins none. */
  get incarnation(): string {
    return this.#incarnations.current;
  }

  get lastId(): string | undefined {
    const newest = this.#segments.newest()?.last_seq;
    return newest === undefined ? undefined : messageId(this.epoch, newest, this.incarnationAt(newest));
  }

  incarnationAt(seq: number): string | undefined {
    return seq > this.#lastSeq ? this.incarnation : this.#incarnations.at(seq);
  }

  #storedIncarnation(seq: number): string | undefined {
    const known = this.#lookedUp;
    if (known && known.from <= seq && seq <= known.to) return known.incarnation;
    const row = this.#segments.rowAt(seq);
    if (!row) return undefined;
    const incarnation = incarnationOfBatch(row.body);
    this.#lookedUp = { from: row.first_seq, to: row.last_seq, incarnation };
    return incarnation;
  }

  get lastSeq(): number {
    return this.#lastSeq;
  }

  get firstSeq(): number {
    return this.#segments.all[0]?.firstSeq ?? this.#lastSeq + 1;
  }

  append(batch: readonly Message[]): void {
    this.#keepName();
    const firstSeq = this.#lastSeq + 1;
    const lastSeq = this.#lastSeq + batch.length;
    const nowMs = batch.at(-1)!.timestamp;
    const row = { first_seq: firstSeq, last_seq: lastSeq, body: encodeBatch(batch, this.incarnation) };
    const segment = this.#segments.all.at(-1);
    if (segment && !isFull(this.#options.retention, segment, this.#stored, nowMs)) {
      const held = this.#stored - segment.storedBefore;
      this.#segments.insert({ ...row, skipped: firstSeq - segment.firstSeq - held });
    } else {
      this.#segments.begin(beginSegment(this.#options.retention, firstSeq, this.#stored, nowMs), {
        ...row,
        skipped: 0,
      });
    }
    this.#incarnations.took(firstSeq);
    this.#stored += batch.length;
    this.#lastSeq = lastSeq;
  }

  reserve(seq: number): void {
    this.#reserved.seq = seq;
  }

  skip(seq: number): void {
    this.#incarnations.took(this.#lastSeq + 1);
    this.#lastSeq = seq;
  }

  has(seq: number): boolean {
    const row = this.#segments.at(seq);
    return row !== undefined && row.last_seq >= seq;
  }

  find(seq: number): Kept | undefined {
    const row = this.#batchAt(seq);
    return (
      row && { posted: this.#postedIn(row)[seq - row.first_seq]!, change: this.#changes.between(seq, seq).get(seq) }
    );
  }

  #batchAt(seq: number): BatchRow | undefined {
    const row = this.#segments.rowAt(seq);
    return row && row.last_seq >= seq ? row : undefined;
  }

  keep(seq: number, rev: number, change: Change): void {
    this.#changes.put(seq, rev, change, () => {
      if (change.deletedBy === undefined) return;
      const row = this.#batchAt(seq)!;
      const posted = this.#postedIn(row).map((message) => (message.seq === seq ? emptied(message) : message));
      this.#segments.rewrite(row, encodeBatch(posted, incarnationOfBatch(row.body)));
    });
  }

  changedAfter(rev: number, limit: number): ChangedMessage[] {
    return this.#changes.after(rev, limit);
  }

  page({ before, after, limit }: PageQuery): Page {
    if (after !== undefined) {
      const messages = take(this.ascending(after), limit);
      const newest = this.#segments.newest();
      return { messages, hasMore: messages.length === limit && messages.at(-1)!.seq < newest!.last_seq };
    }
    const messages = take(this.descending(before ?? Infinity), limit).reverse();
    return { messages, hasMore: messages.length === limit && this.#segments.at(messages[0]!.seq - 1) !== undefined };
  }

  *ascending(after: number): Iterable<Message> {
    // The batch that holds `after` may hold the next messages too.
    const start = this.#segments.at(after);
    const from = start && start.last_seq > after ? start.first_seq : after + 1;
    for (const row of this.#segments.rowsFrom(from)) {
      for (const message of this.#messagesOf(row)) if (message.seq > after) yield message;
    }
  }

  *descending(before: number): Iterable<Message> {
    for (const row of this.#segments.rowsBefore(Math.min(before, Number.MAX_SAFE_INTEGER))) {
      for (const message of this.#messagesOf(row).reverse()) if (message.seq < before) yield message;
    }
  }

  #messagesOf(row: BatchRow): Message[] {
    const changes = this.#changes.between(row.first_seq, row.last_seq);
    return this.#postedIn(row).map((message) => withChange(message, changes.get(message.seq)));
  }

  #postedIn({ first_seq: firstSeq, last_seq: lastSeq, body }: BatchRow): Message[] {
    return decodeBatch(body, { room: this.#options.room, epoch: this.epoch, firstSeq, lastSeq });
  }

  get trimDueMs(): number | undefined {
    const [oldest] = this.#segments.all;
    return oldest && agedAtMs(this.#options.retention, oldest);
  }

  trim(nowMs: number): void {
    const { all } = this.#segments;
    const count = countExpired(this.#options.retention, all, this.#stored, nowMs);
    if (count === 0) return;
    // The last row is the only record of the next message's seq.
    const isAll = count === all.length;
    this.#segments.drop(count, () => isAll && this.reserve(Math.max(this.#lastSeq, this.#reserved.seq)));
  }
}

function take(messages: Iterable<Message>, limit: number): Message[] {
  const taken: Message[] = [];
  for (const message of messages) if (taken.push(message) === limit) break;
  return taken;
}
