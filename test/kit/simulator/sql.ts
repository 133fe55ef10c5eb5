// SQL as an object's code sees it: cursors, and texts of several statements. Called by storage.ts.

export type Value = null | number | string | Uint8Array | ArrayBuffer;
export type Row = Record<string, Value>;

const WRITES = /^(INSERT|UPDATE|DELETE|CREATE|DROP|ALTER|REPLACE|REINDEX|ANALYZE)\b/i;
/** A write may begin with a common table expression. */
const WRITES_WITH = /^WITH\b[^]*?\b(INSERT|UPDATE|DELETE|REPLACE)\b/i;
/** A comment, a text in quotes, or anything else that holds no statement's end. */
const TOKEN = /--[^\n]*|\/\*[^]*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\[[^\]]*\]|;|\w+|[^]/g;

export const isWrite = (statement: string): boolean => WRITES.test(statement) || WRITES_WITH.test(statement);

/** @returns the statements of a text without comments around them; triggers hold statements of their own */
export function statementsOf(text: string): string[] {
  // The usual text has one statement and no comment.
  if (!/;\s*\S|--|\/\*/.test(text)) return [text.trim()];
  const statements: string[] = [];
  let statement = "";
  let depth = 0;
  for (const [token] of text.matchAll(TOKEN)) {
    if (token.startsWith("--") || token.startsWith("/*")) {
      statement += " ";
      continue;
    }
    if (/^create$/i.test(token)) depth = 0;
    if (/^(begin|case)$/i.test(token) && /^create\s+(temp\w*\s+)?trigger/i.test(statement.trim())) depth++;
    if (/^end$/i.test(token) && depth > 0) depth--;
    if (token === ";" && depth === 0) {
      statements.push(statement.trim());
      statement = "";
    } else statement += token;
  }
  return [...statements, statement.trim()].filter((one) => one !== "");
}

export class Cursor {
  readonly columnNames: string[];
  readonly rowsRead: number;
  readonly rowsWritten: number;
  readonly #rows: Row[];

  /** @param rows as SQLite gives them */
  constructor(rows: readonly Row[], columnNames: readonly string[], rowsWritten: number) {
    this.#rows = rows.map(asOnThePlatform);
    this.columnNames = [...columnNames];
    this.rowsRead = rows.length;
    this.rowsWritten = rowsWritten;
  }

  next(): { done: boolean; value?: Row } {
    const value = this.#rows.shift();
    return value ? { done: false, value } : { done: true };
  }

  toArray(): Row[] {
    return this.#rows.splice(0);
  }

  one(): Row {
    const rows = this.toArray();
    if (rows.length !== 1) throw new Error(`Expected exactly one result from SQL query, but got ${rows.length}`);
    return rows[0]!;
  }

  *raw(): Generator<Value[]> {
    for (const row of this) yield Object.values(row);
  }

  *[Symbol.iterator](): Generator<Row> {
    for (let row = this.#rows.shift(); row; row = this.#rows.shift()) yield row;
  }
}

/** Bytes arrive as an ArrayBuffer. */
function asOnThePlatform(row: Row): Row {
  for (const [name, value] of Object.entries(row)) if (value instanceof Uint8Array) row[name] = value.slice().buffer;
  return row;
}
