// The tables of a room's log: one per segment, and a small one that lists them. Every query is read to its end
// at once, because a table that a cursor is still open on cannot be dropped.
import type { Segment } from "../../chat/log/segments.ts";
import { inPlaceOf, PAGE_FILLER } from "./in-place.ts";

/** The seqs of a batch. `skipped`: seqs of its segment before it that hold no message. */
interface SeqsRow extends Record<string, SqlStorageValue> {
  first_seq: number;
  last_seq: number;
  skipped: number;
}

export interface BatchRow extends SeqsRow {
  body: string;
}

type SegmentRow = Segment & Record<string, SqlStorageValue>;

/** Rows fetched by one query at most: few, because each of them may be as large as a row can be. */
const ROWS_AT_ONCE = 8;

const LIST = "segments";
const CREATE_LIST = `CREATE TABLE IF NOT EXISTS ${LIST} (first_seq INTEGER PRIMARY KEY, until_ms INTEGER NOT NULL, stored_before INTEGER NOT NULL)`;

/** Stands in front of the messages of each segment. */
const FIRST_ROW: BatchRow = { first_seq: 0, last_seq: 0, skipped: 0, body: PAGE_FILLER };

const tableOf = (firstSeq: number): string => `batches_${firstSeq}`;

/** The table of the changes of a segment's messages, if there are any. */
export const changesTableOf = (firstSeq: number): string => `changes_${firstSeq}`;

export class LogSegments {
  readonly #storage: DurableObjectStorage;
  readonly #sql: SqlStorage;
  /** Names of the tables that were there when the log was opened, and of those that changes made since. */
  readonly tables: Set<string>;
  /** The oldest first. None is empty. */
  #all: readonly Segment[];
  /** The statement for a row of one segment. The platform finds a text that it has seen faster than an equal one. */
  #insertInto = { firstSeq: NaN, text: "" };

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
    this.#sql = storage.sql;
    const tables = this.#sql.exec<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'").toArray();
    this.tables = new Set(tables.map(({ name }) => name));
    const query = `SELECT first_seq AS firstSeq, until_ms AS untilMs, stored_before AS storedBefore FROM ${LIST} ORDER BY first_seq`;
    this.#all = this.tables.has(LIST) ? this.#sql.exec<SegmentRow>(query).toArray() : [];
  }

  get all(): readonly Segment[] {
    return this.#all;
  }

  /** The segment that holds a seq, if it is kept. */
  of(seq: number): Segment | undefined {
    return this.#all.findLast(({ firstSeq }) => firstSeq <= seq);
  }

  /** Replaces the text of a row, of which a message was deleted, where it stands. */
  rewrite({ first_seq: firstSeq, body: before }: BatchRow, body: string): void {
    const { firstSeq: segment } = this.of(firstSeq)!;
    this.#sql.exec(`UPDATE ${tableOf(segment)} SET body = ? WHERE first_seq = ?`, inPlaceOf(before, body), firstSeq);
  }

  /** Adds a row to the newest segment. */
  insert(row: BatchRow): void {
    this.#insert(this.#all.at(-1)!, row);
  }

  /** Begins a segment with its first row, or leaves everything as it was. */
  begin(segment: Segment, row: BatchRow): void {
    const { firstSeq, untilMs, storedBefore } = segment;
    this.#storage.transactionSync(() => {
      this.#sql.exec(
        `CREATE TABLE ${tableOf(firstSeq)} (first_seq INTEGER PRIMARY KEY, last_seq INTEGER NOT NULL, body TEXT NOT NULL, skipped INTEGER NOT NULL)`,
      );
      this.#sql.exec(CREATE_LIST);
      this.#sql.exec(
        `INSERT INTO ${LIST} (first_seq, until_ms, stored_before) VALUES (?, ?, ?)`,
        firstSeq,
        untilMs,
        storedBefore,
      );
      this.#insert(segment, FIRST_ROW);
      this.#insert(segment, row);
    });
    this.#all = [...this.#all, segment];
  }

  #insert({ firstSeq }: Segment, { first_seq, last_seq, body, skipped }: BatchRow): void {
    if (this.#insertInto.firstSeq !== firstSeq) {
      const text = `INSERT INTO ${tableOf(firstSeq)} (first_seq, last_seq, body, skipped) VALUES (?, ?, ?, ?)`;
      this.#insertInto = { firstSeq, text };
    }
    this.#sql.exec(this.#insertInto.text, first_seq, last_seq, body, skipped);
  }

  /** Drops the oldest segments and runs `besides` in one transaction. */
  drop(count: number, besides: () => void): void {
    this.#storage.transactionSync(() => {
      for (const { firstSeq } of this.#all.slice(0, count)) {
        this.#sql.exec(`DROP TABLE ${tableOf(firstSeq)}`);
        this.#sql.exec(`DROP TABLE IF EXISTS ${changesTableOf(firstSeq)}`);
        this.#sql.exec(`DELETE FROM ${LIST} WHERE first_seq = ?`, firstSeq);
      }
      besides();
    });
    this.#all = this.#all.slice(count);
  }

  /** The seqs of the newest batch that begins at a seq or before it. */
  at(seq: number): SeqsRow | undefined {
    const found = this.#newestUpTo(seq);
    return found && this.#sql.exec<SeqsRow>(`SELECT first_seq, last_seq, skipped ${found}`, seq).toArray()[0];
  }

  /** The seqs of the newest batch. */
  newest(): SeqsRow | undefined {
    return this.at(Number.MAX_SAFE_INTEGER);
  }

  /** The batch that begins at a seq or before it, as a whole. */
  rowAt(seq: number): BatchRow | undefined {
    const found = this.#newestUpTo(seq);
    return found && this.#sql.exec<BatchRow>(`SELECT first_seq, last_seq, skipped, body ${found}`, seq).toArray()[0];
  }

  #newestUpTo(seq: number): `FROM ${string}` | undefined {
    const segment = this.of(seq);
    return segment && `FROM ${tableOf(segment.firstSeq)} WHERE first_seq <= ? ORDER BY first_seq DESC LIMIT 1`;
  }

  /** Rows that begin at a seq or later, oldest first; read as they are needed. */
  *rowsFrom(seq: number): Iterable<BatchRow> {
    let next = seq;
    for (let limit = 1; ; limit = Math.min(ROWS_AT_ONCE, limit * 2)) {
      const rows = this.#read(
        this.#all.filter((_segment, at) => (this.#all[at + 1]?.firstSeq ?? Infinity) > next),
        ({ firstSeq }) => `${tableOf(firstSeq)} WHERE first_seq >= ? ORDER BY first_seq`,
        [next, limit],
      );
      if (rows.length === 0) return;
      yield* rows;
      next = rows.at(-1)!.last_seq + 1;
    }
  }

  /** Rows that begin before a seq, newest first; read as they are needed. */
  *rowsBefore(seq: number): Iterable<BatchRow> {
    let before = seq;
    for (let limit = 1; ; limit = Math.min(ROWS_AT_ONCE, limit * 2)) {
      const rows = this.#read(
        this.#all.filter(({ firstSeq }) => firstSeq < before).reverse(),
        ({ firstSeq }) =>
          `${tableOf(firstSeq)} WHERE first_seq < ? AND first_seq > ${FIRST_ROW.first_seq} ORDER BY first_seq DESC`,
        [before, limit],
      );
      if (rows.length === 0) return;
      yield* rows;
      before = rows.at(-1)!.first_seq;
    }
  }

  /** The first segment that has an answer gives it: none is empty, so it is the first or the second. */
  #read(segments: readonly Segment[], from: (segment: Segment) => string, bindings: readonly number[]): BatchRow[] {
    for (const segment of segments) {
      const query = `SELECT first_seq, last_seq, skipped, body FROM ${from(segment)} LIMIT ?`;
      const rows = this.#sql.exec<BatchRow>(query, ...bindings).toArray();
      if (rows.length > 0) return rows;
    }
    return [];
  }
}
