// The last place of a log that is taken, where its messages do not say it: messages were shown and not stored, or all were
// trimmed. One row, made by the first need. Used by sql-message-log.ts.

const TABLE = "reserved_seq";

export class ReservedSeq {
  readonly #sql: SqlStorage;
  #seq: number;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    this.#seq = this.#read();
  }

  #read(): number {
    const isThere = this.#sql.exec("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", TABLE).toArray();
    if (isThere.length === 0) return 0;
    return this.#sql.exec<{ seq: number }>(`SELECT seq FROM ${TABLE}`).toArray()[0]?.seq ?? 0;
  }

  /** 0 where nothing is reserved. */
  get seq(): number {
    return this.#seq;
  }

  set seq(seq: number) {
    this.#sql.exec(`CREATE TABLE IF NOT EXISTS ${TABLE} (id INTEGER PRIMARY KEY CHECK (id = 0), seq INTEGER NOT NULL)`);
    this.#sql.exec(
      `INSERT INTO ${TABLE} (id, seq) VALUES (0, ?) ON CONFLICT (id) DO UPDATE SET seq = excluded.seq`,
      seq,
    );
    this.#seq = seq;
  }
}
