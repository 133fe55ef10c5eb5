// Stores the changes of messages: a table per segment of the log, made by the first change there and dropped with the segment. One
// row per changed message; without an index on `rev`, which would cost a row with every change. Called by sql-message-log.ts.
import { decodeChange, encodeChange } from "../../chat/log/change-format.ts";
import type { Change } from "../../chat/log/change.ts";
import type { ChangedMessage } from "../../chat/log/message-log.ts";
import { changesTableOf, type LogSegments } from "./log-segments.ts";
import { blankAs, inPlaceOf, isLonger, PAGE_FILLER } from "./in-place.ts";

interface ChangeRow extends Record<string, SqlStorageValue> {
  seq: number;
  body: string;
}

interface RevRow extends Record<string, SqlStorageValue> {
  seq: number;
  rev: number;
}

export class ChangeTables {
  readonly #storage: DurableObjectStorage;
  readonly #segments: LogSegments;

  constructor(storage: DurableObjectStorage, segments: LogSegments) {
    this.#storage = storage;
    this.#segments = segments;
  }

  #tableOf(seq: number): string | undefined {
    const segment = this.#segments.of(seq);
    return segment && changesTableOf(segment.firstSeq);
  }

  /** Changes of the messages from one seq to another, both included, which one segment holds. */
  between(firstSeq: number, lastSeq: number): Map<number, Change> {
    const table = this.#tableOf(firstSeq);
    if (table === undefined || !this.#segments.tables.has(table)) return new Map();
    const rows = this.#storage.sql
      .exec<ChangeRow>(`SELECT seq, body FROM ${table} WHERE seq BETWEEN ? AND ?`, firstSeq, lastSeq)
      .toArray();
    return new Map(rows.map(({ seq, body }) => [seq, decodeChange(body, seq)]));
  }

  /** Stores a change and runs `besides` in one transaction. */
  put(seq: number, rev: number, change: Change, besides: () => void): void {
    const table = this.#tableOf(seq)!;
    this.#storage.transactionSync(() => {
      if (!this.#segments.tables.has(table)) {
        const { sql } = this.#storage;
        sql.exec(`CREATE TABLE ${table} (seq INTEGER PRIMARY KEY, rev INTEGER NOT NULL, body TEXT NOT NULL)`);
        sql.exec(`INSERT INTO ${table} (seq, rev, body) VALUES (0, 0, ?)`, PAGE_FILLER);
      }
      this.#write(table, { seq, rev, body: encodeChange(change) });
      besides();
    });
    this.#segments.tables.add(table);
  }

  #write(table: string, { seq, rev, body }: ChangeRow & RevRow): void {
    const { sql } = this.#storage;
    const [known] = sql.exec<ChangeRow>(`SELECT seq, body FROM ${table} WHERE seq = ?`, seq).toArray();
    if (!known) return void sql.exec(`INSERT INTO ${table} (seq, rev, body) VALUES (?, ?, ?)`, seq, rev, body);
    const update = `UPDATE ${table} SET rev = ?, body = ? WHERE seq = ?`;
    // A deleted text must leave the file, and a row that grows moves.
    const isMoved = isLonger(known.body, body) && decodeChange(known.body, seq).edits.length > 0;
    if (isMoved) sql.exec(update, rev, blankAs(known.body), seq);
    sql.exec(update, rev, inPlaceOf(known.body, body), seq);
  }

  /** Changes after a `rev`, the lowest first. Reads all rows, but not their bodies. */
  after(rev: number, limit: number): ChangedMessage[] {
    return this.#segments.all
      .map(({ firstSeq }) => changesTableOf(firstSeq))
      .filter((table) => this.#segments.tables.has(table))
      .flatMap((table) =>
        this.#storage.sql
          .exec<RevRow>(`SELECT seq, rev FROM ${table} WHERE rev > ? AND seq > 0 ORDER BY rev LIMIT ?`, rev, limit)
          .toArray(),
      )
      .sort((a, b) => a.rev - b.rev)
      .slice(0, limit)
      .map(({ seq, rev }) => ({ seq, rev }));
  }
}
