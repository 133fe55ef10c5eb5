// Keeps rows for a window of time in two tables, one for the current window and one for the window before: to drop a table is free, to delete
// its rows is not. Extended by the logs of both recoveries (src/socketio/object/broadcast-tables.ts, src/stock/packet-log.ts).
import { Incarnations, UNNAMED_INCARNATION } from "./incarnations.ts";

/** The database of an object, as far as these tables use it. */
export interface Sql {
  exec(query: string, ...bindings: Array<string | number>): Iterable<object>;
}

/** What was sent at one position, or at several from that one on. */
export interface WindowRow {
  readonly seq: number;
  readonly at_ms: number;
  /** JSON of an object with the recipients, and `life`: the incarnation of the log. */
  readonly audience: string;
  readonly body: string;
}

export interface WindowOptions {
  readonly windowMs: number;
  readonly nowMs: number;
  /** Names an incarnation of the log, given the name of the one before it. */
  readonly newIncarnation: (before: string) => string;
  /** The last position of a row. Default: its only one. */
  readonly lastOf?: (row: WindowRow) => number;
  /** Characters of one table: beyond it the table is followed before its window is over. Default: no limit. */
  readonly charsMax?: number;
  /** Whether the window of what is stored begins again with this instance, because nobody could come back before it. */
  readonly beginsAgain?: boolean;
}

/** Rows of one query: a row may have 1.4 MB. */
const ROWS_AT_ONCE = 16;

export class WindowTables {
  readonly #sql: Sql;
  readonly #names: readonly [string, string];
  readonly #options: WindowOptions;
  readonly #incarnations: Incarnations;
  /** The last row of an earlier instance, if there is any. */
  protected readonly newest: WindowRow | undefined;
  #lastSeq: number;
  /** The table that is written; the other one holds the rows before it. */
  #current: 0 | 1;
  #currentSinceMs: number;
  #currentChars: number;
  /** The last position that was cut off, or the row that says it. */
  #cut: number | WindowRow;
  /** Both, or none: the first row makes them, because clients may join any number of namespaces in which nothing is said. */
  #areMade: boolean;

  /** @param names of both tables */
  constructor(sql: Sql, names: readonly [string, string], options: WindowOptions) {
    this.#incarnations = new Incarnations({
      begin: options.newIncarnation,
      lastSeq: () => this.#lastSeq,
      stored: (seq) => this.#storedIncarnation(seq),
    });
    this.#sql = sql;
    this.#names = names;
    this.#options = options;
    const { nowMs, lastOf = ({ seq }) => seq, charsMax = Infinity, beginsAgain = false } = options;
    this.#areMade = [...sql.exec("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", names[0])].length > 0;
    const newest = names.map((name) => this.#edge(name, "DESC"));
    const [one = 0, other = 0] = newest.map((row) => row && lastOf(row));
    this.#lastSeq = Math.max(one, other);
    this.#current = other > one ? 1 : 0;
    const first = this.#edge(names[this.#current], "ASC");
    this.#currentSinceMs = beginsAgain ? nowMs : (first?.at_ms ?? nowMs);
    this.#currentChars = charsMax < Infinity ? this.#charsOf(names[this.#current]) : 0;
    this.#cut = first ?? 0;
    this.newest = newest[this.#current];
  }

  #edge(name: string, order: "ASC" | "DESC"): WindowRow | undefined {
    if (!this.#areMade) return undefined;
    const [row] = this.#sql.exec(`SELECT * FROM ${name} ORDER BY seq ${order} LIMIT 1`);
    return row as WindowRow | undefined;
  }

  #charsOf(name: string): number {
    if (!this.#areMade) return 0;
    const [sum] = this.#sql.exec(`SELECT total(length(audience) + length(body)) AS chars FROM ${name}`);
    return (sum as { readonly chars: number }).chars;
  }

  get lastSeq(): number {
    return this.#lastSeq;
  }

  /** The oldest position that is stored; without any, the one after the last. */
  get firstSeq(): number {
    return this.oldest?.seq ?? this.#lastSeq + 1;
  }

  protected get oldest(): WindowRow | undefined {
    return this.#edge(this.#names[1 - this.#current]!, "ASC") ?? this.#edge(this.#names[this.#current], "ASC");
  }

  /** The last position that was forgotten for the size of the tables, and not for its age. */
  protected get cutTo(): number {
    if (typeof this.#cut !== "number") this.#cut = readBack(this.#cut, cutOf) ?? 0;
    return this.#cut;
  }

  /** The time of the last row of an earlier instance, or 0. */
  get newestAtMs(): number {
    return this.newest?.at_ms ?? 0;
  }

  /** Its incarnation. */
  get newestLife(): string | undefined {
    return this.newest && readBack(this.newest, incarnationOf);
  }

  /** The incarnation of what is appended now. */
  get incarnation(): string {
    return this.#incarnations.current;
  }

  /** The incarnation of the row at a position, or of the nearest one before it. */
  incarnationAt(seq: number): string | undefined {
    return this.#incarnations.at(seq);
  }

  #storedIncarnation(seq: number): string | undefined {
    if (!this.#areMade) return undefined;
    const query = (name: string): string =>
      `SELECT seq, audience FROM ${name} WHERE seq <= ? ORDER BY seq DESC LIMIT 1`;
    const rows = this.#names.flatMap((name) => [...this.#sql.exec(query(name), seq)]) as WindowRow[];
    const [nearest] = rows.sort((a, b) => b.seq - a.seq);
    return nearest && readBack(nearest, incarnationOf);
  }

  /**
   * Stores a row for the positions after the last one.
   * @param audience plain data
   * @param count how many positions
   */
  protected add(audience: object, body: string, nowMs: number, count = 1): void {
    const { windowMs, charsMax = Infinity } = this.#options;
    let cut: number | undefined;
    if (!this.#areMade) this.#make(nowMs);
    else if (nowMs - this.#currentSinceMs > windowMs) this.#swapTables(nowMs);
    else if (this.#currentChars > charsMax) {
      this.#swapTables(nowMs);
      cut = this.firstSeq - 1;
      this.#cut = cut;
    }
    const seq = this.#lastSeq + 1;
    const stored = JSON.stringify({ ...audience, life: this.#incarnations.current, cut });
    this.#sql.exec(
      `INSERT INTO ${this.#names[this.#current]} (seq, at_ms, audience, body) VALUES (?, ?, ?, ?)`,
      seq,
      nowMs,
      stored,
      body,
    );
    this.#incarnations.took(seq);
    this.#lastSeq += count;
    this.#currentChars += stored.length + body.length;
  }

  /** Leaves out positions that hold nothing. */
  protected skip(count: number): void {
    this.#lastSeq += count;
  }

  #make(nowMs: number): void {
    for (const name of this.#names) createTable(this.#sql, name);
    this.#areMade = true;
    this.#currentSinceMs = nowMs;
    this.#currentChars = 0;
  }

  /** Called after a window: no client can recover from the rows of the other table any more. */
  #swapTables(nowMs: number): void {
    this.#current = this.#current === 0 ? 1 : 0;
    this.#currentSinceMs = nowMs;
    this.#currentChars = 0;
    this.#sql.exec(`DROP TABLE ${this.#names[this.#current]}`);
    createTable(this.#sql, this.#names[this.#current]);
  }

  /** Forgets all rows. Their positions are not used again by this instance, and those of later ones have another incarnation. */
  drop(): void {
    if (!this.#areMade) return;
    for (const name of this.#names) this.#sql.exec(`DROP TABLE ${name}`);
    this.#areMade = false;
    this.#cut = 0;
  }

  /**
   * @returns in order, the rows since `sinceMs` of all positions from `seq` on, and perhaps the one before them. Each query is read to its end:
   * SQLite locks the tables of one that is not, and the caller may stop early.
   */
  protected *from(seq: number, sinceMs = 0): Generator<WindowRow> {
    if (!this.#areMade) return;
    for (const name of [this.#names[1 - this.#current]!, this.#names[this.#current]]) {
      const query = `SELECT * FROM ${name} WHERE seq >= ? AND at_ms >= ? ORDER BY seq LIMIT ${ROWS_AT_ONCE}`;
      const [holder] = this.#sql.exec(`SELECT coalesce(max(seq), 0) AS seq FROM ${name} WHERE seq <= ?`, seq);
      for (let next = (holder as Pick<WindowRow, "seq">).seq; ;) {
        const rows = [...this.#sql.exec(query, next, sinceMs)] as WindowRow[];
        yield* rows;
        if (rows.length < ROWS_AT_ONCE) break;
        next = rows.at(-1)!.seq + 1;
      }
    }
  }
}

function createTable(sql: Sql, name: string): void {
  sql.exec(
    `CREATE TABLE IF NOT EXISTS ${name} (seq INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL, audience TEXT NOT NULL, body TEXT NOT NULL)`,
  );
}

/** @throws Error that names a damaged row */
export function readBack<Read>(row: WindowRow, read: (row: WindowRow) => Read): Read {
  try {
    return read(row);
  } catch (cause) {
    throw new Error(`broadcast ${row.seq} cannot be read back`, { cause });
  }
}

const cutOf = ({ audience }: WindowRow): number | undefined => (JSON.parse(audience) as { readonly cut?: number }).cut;

export const incarnationOf = ({ audience }: WindowRow): string =>
  (JSON.parse(audience) as { readonly life?: string }).life ?? UNNAMED_INCARNATION;

/** The name of a channel in JSON: a string is itself, any other primitive the name of its type and its text. */
export type StoredName = string | readonly [type: string, text: string];

export const storedName = (name: unknown): StoredName =>
  typeof name === "string" ? name : [typeof name, String(name)];

/** By type a name is a string; code without types uses others. */
export function nameOf(stored: StoredName): string {
  if (typeof stored === "string") return stored;
  const [type, text] = stored;
  const names: Readonly<Record<string, () => unknown>> = {
    number: () => Number(text),
    bigint: () => BigInt(text),
    boolean: () => text === "true",
    undefined: () => undefined,
    object: () => null,
  };
  return names[type]!() as string;
}
