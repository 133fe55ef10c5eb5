// Stores the last seq of a log that is taken, where its messages do not show it. Called by sql-message-log.ts.

const RESERVED_TABLE = "reserved_seq";

/** Needed where messages were shown and not stored, or all were trimmed. One row, made by the first need. */
export class ReservedSeq {
  readonly #sql: SqlStorage;
  /** 0 where nothing is reserved. */
  #seq = 0;

  constructor(sql: SqlStorage, tables: ReadonlySet<string>) {
    this.#sql = sql;
    if (tables.has(RESERVED_TABLE))
      this.#seq = sql.exec<{ seq: number }>(`SELECT seq FROM ${RESERVED_TABLE}`).toArray()[0]?.seq ?? 0;
  }

  get seq(): number {
    return this.#seq;
  }

  set seq(seq: number) {
    this.#sql.exec(
      `CREATE TABLE IF NOT EXISTS ${RESERVED_TABLE} (id INTEGER PRIMARY KEY CHECK (id = 0), seq INTEGER NOT NULL)`,
    );
    this.#sql.exec(
      `INSERT INTO ${RESERVED_TABLE} (id, seq) VALUES (0, ?) ON CONFLICT (id) DO UPDATE SET seq = excluded.seq`,
      seq,
    );
    this.#seq = seq;
  }
}
