// The search index of a room, in SQLite's FTS5: a table per part, made by the first search and dropped as a whole. One row
// per block of messages, because a row is billed for each row that goes into an FTS5 table, and for none that FTS5 keeps behind it.
// Source: https://www.sqlite.org/fts5.html
//
// The tables keep neither text nor positions: which block has which term is all there is to know. The tokenizer only has to find
// the spaces between terms, since words.ts has split the words before.
import {
  INDEX_SHAPE,
  INDEX_VERSION,
  type IndexBlock,
  type IndexPart,
  type IndexTerm,
  type SearchIndex,
} from "./search-index.ts";
import { fillFreePages } from "../../objects/sql/free-pages.ts";

type PartRow = IndexPart & Record<string, SqlStorageValue>;

const LIST = "search_parts";
const tableOf = ({ firstSeq }: IndexPart): string => `search_${firstSeq}`;

export class SqlSearchIndex implements SearchIndex {
  readonly #storage: DurableObjectStorage;
  readonly #sql: SqlStorage;
  readonly shape;
  #parts: readonly IndexPart[] | undefined;

  constructor(storage: DurableObjectStorage, shape = INDEX_SHAPE) {
    this.shape = shape;
    this.#storage = storage;
    this.#sql = storage.sql;
  }

  /** Read at the first search: a room without searches has no such table. */
  get parts(): readonly IndexPart[] {
    return (this.#parts ??= this.#load());
  }

  #load(): IndexPart[] {
    const isThere = this.#sql.exec("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", LIST).toArray();
    if (isThere.length === 0) return [];
    const query = `SELECT first_seq AS firstSeq, last_seq AS lastSeq FROM ${LIST} WHERE version`;
    for (const part of this.#sql.exec<PartRow>(`${query} != ?`, INDEX_VERSION).toArray()) this.#dropTable(part);
    return this.#sql.exec<PartRow>(`${query} = ? ORDER BY first_seq`, INDEX_VERSION).toArray();
  }

  add(part: IndexPart, blocks: Iterable<IndexBlock>): void {
    const before = this.parts;
    this.#storage.transactionSync(() => {
      this.#sql.exec(
        `CREATE TABLE IF NOT EXISTS ${LIST} (first_seq INTEGER PRIMARY KEY, last_seq INTEGER NOT NULL, version INTEGER NOT NULL)`,
      );
      this.#sql.exec(
        `CREATE VIRTUAL TABLE ${tableOf(part)} USING fts5(terms, content='', detail=none, columnsize=0, tokenize='ascii')`,
      );
      for (const { firstSeq, terms } of blocks) {
        this.#sql.exec(`INSERT INTO ${tableOf(part)} (rowid, terms) VALUES (?, ?)`, firstSeq, [...terms].join(" "));
      }
      this.#sql.exec(
        `INSERT INTO ${LIST} (first_seq, last_seq, version) VALUES (?, ?, ?)`,
        part.firstSeq,
        part.lastSeq,
        INDEX_VERSION,
      );
    });
    this.#parts = [...before, part].sort((a, b) => a.firstSeq - b.firstSeq);
  }

  find(part: IndexPart, terms: readonly IndexTerm[], before: number): number[] {
    const table = tableOf(part);
    return this.#sql
      .exec<{ rowid: number }>(
        `SELECT rowid FROM ${table} WHERE ${table} MATCH ? AND rowid < ? ORDER BY rowid DESC`,
        terms.map(renderTerm).join(" AND "),
        before,
      )
      .toArray()
      .map(({ rowid }) => rowid);
  }

  drop(part: IndexPart): void {
    const { parts } = this;
    this.#dropTable(part);
    this.#parts = parts.filter(({ firstSeq }) => firstSeq !== part.firstSeq);
  }

  erase(part: IndexPart): void {
    const bytes = this.#sql.databaseSize;
    this.drop(part);
    fillFreePages(this.#storage, bytes);
  }

  #dropTable(part: IndexPart): void {
    this.#storage.transactionSync(() => {
      this.#sql.exec(`DROP TABLE IF EXISTS ${tableOf(part)}`);
      this.#sql.exec(`DELETE FROM ${LIST} WHERE first_seq = ?`, part.firstSeq);
    });
  }
}

/** Quoted, so that no user's text is FTS5 syntax. */
export function renderTerm({ text, isPrefix }: IndexTerm): string {
  return `"${text.replaceAll('"', '""')}"${isPrefix ? "*" : ""}`;
}
