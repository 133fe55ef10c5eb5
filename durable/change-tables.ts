// What became of messages after they were posted: a table per segment of the log, made by the first change there and
// dropped with it. One row per changed message; without an index on `rev`, which would cost a row with every change.
import { decodeChange, encodeChange } from "../src/chat/change-format.ts";
import type { Change } from "../src/chat/change.ts";
import type { ChangedMessage } from "../src/chat/message-log.ts";
import { changesTableOf, type LogSegments } from "./log-segments.ts";

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

  /** What became of the messages at these places, both included, which one segment holds. */
  between(firstSeq: number, lastSeq: number): Map<number, Change> {
    const table = this.#tableOf(firstSeq);
    if (table === undefined || !this.#segments.tables.has(table)) return new Map();
    const rows = this.#storage.sql
      .exec<ChangeRow>(`SELECT seq, body FROM ${table} WHERE seq BETWEEN ? AND ?`, firstSeq, lastSeq)
      .toArray();
    return new Map(rows.map(({ seq, body }) => [seq, decodeChange(body, seq)]));
  }

  /** Keeps a change, and does what else belongs to it: all of it or nothing. */
  put(seq: number, rev: number, change: Change, besides: () => void): void {
    const table = this.#tableOf(seq)!;
    const { sql } = this.#storage;
    this.#storage.transactionSync(() => {
      sql.exec(
        `CREATE TABLE IF NOT EXISTS ${table} (seq INTEGER PRIMARY KEY, rev INTEGER NOT NULL, body TEXT NOT NULL)`,
      );
      sql.exec(
        `INSERT INTO ${table} (seq, rev, body) VALUES (?, ?, ?) ON CONFLICT (seq) DO UPDATE SET rev = excluded.rev, body = excluded.body`,
        seq,
        rev,
        encodeChange(change),
      );
      besides();
    });
    this.#segments.tables.add(table);
  }

  /** The lowest `rev` first. Reads all rows, but not their bodies. */
  after(rev: number, limit: number): ChangedMessage[] {
    return this.#segments.all
      .map(({ firstSeq }) => changesTableOf(firstSeq))
      .filter((table) => this.#segments.tables.has(table))
      .flatMap((table) =>
        this.#storage.sql
          .exec<RevRow>(`SELECT seq, rev FROM ${table} WHERE rev > ? ORDER BY rev LIMIT ?`, rev, limit)
          .toArray(),
      )
      .sort((a, b) => a.rev - b.rev)
      .slice(0, limit)
      .map(({ seq, rev }) => ({ seq, rev }));
  }
}
