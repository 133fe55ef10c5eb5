// The storage of one object: SQLite, whose writes become durable in groups, a while after they were made. Until then a crash
// may take them, the youngest first, and nothing that was said after them has left the object.
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { deserialize, serialize } from "node:v8";

type Value = null | number | string | Uint8Array;
type Row = Record<string, Value>;

interface Write {
  readonly text: string;
  readonly bindings: readonly Value[];
}

/** The writes of one event, which become durable or get lost together. */
interface Group {
  readonly id: number;
  readonly writes: Write[];
}

const WRITE = /^\s*(INSERT|UPDATE|DELETE|CREATE|DROP|ALTER|REPLACE)/i;
const KV = "_cf_KV";
const ALARM = "_cf_ALARM";

class Cursor {
  readonly #rows: readonly Row[];
  readonly rowsWritten: number;

  constructor(rows: readonly Row[], rowsWritten: number) {
    this.#rows = rows;
    this.rowsWritten = rowsWritten;
  }

  toArray(): Row[] {
    return [...this.#rows];
  }

  one(): Row {
    if (this.#rows.length !== 1) throw new Error(`expected one row, found ${this.#rows.length}`);
    return this.#rows[0]!;
  }

  [Symbol.iterator](): Iterator<Row> {
    return this.#rows[Symbol.iterator]();
  }
}

export class Storage {
  /** While set, writing fails with it. */
  failure: Error | undefined;
  readonly #database = new DatabaseSync(":memory:");
  readonly #statements = new Map<string, StatementSync>();
  /** Closed, and on their way. */
  #groups: Group[] = [];
  #open: Group | undefined;
  #isBegun = false;
  #groupIds = 0;
  /** Callers that wait until a group is durable. */
  #awaited: Array<{ readonly group: number; readonly resolve: () => void }> = [];
  /** Lets the object go on that waited, in its own time. */
  resume: (run: () => void) => void = (run) => run();

  constructor() {
    this.#makeOwnTables();
    const bytes = "SELECT page_count * page_size AS bytes FROM pragma_page_count(), pragma_page_size()";
    Object.defineProperty(this.sql, "databaseSize", { get: () => this.#statement(bytes).all()[0]!["bytes"] });
  }

  #makeOwnTables(): void {
    this.#database.exec(`CREATE TABLE IF NOT EXISTS ${KV} (key TEXT PRIMARY KEY, value BLOB)`);
    this.#database.exec(`CREATE TABLE IF NOT EXISTS ${ALARM} (id INTEGER PRIMARY KEY, at REAL)`);
  }

  close(): void {
    this.#statements.clear();
    this.#database.close();
  }

  // ---- as the object sees it -------------------------------------------------------------------------------

  readonly sql = {
    exec: (text: string, ...bindings: Value[]): Cursor => this.#exec(text, bindings),
    databaseSize: 0,
  };

  readonly kv = {
    get: (key: string): unknown => {
      const [row] = this.#exec(`SELECT value FROM ${KV} WHERE key = ?`, [key]).toArray();
      return row && deserialize(row["value"] as Uint8Array);
    },
    put: (key: string, value: unknown): void =>
      void this.#exec(`INSERT OR REPLACE INTO ${KV} (key, value) VALUES (?, ?)`, [key, serialize(value)]),
    delete: (key: string): void => void this.#exec(`DELETE FROM ${KV} WHERE key = ?`, [key]),
    list: ({ prefix = "", startAfter = "", limit = -1 } = {}): Array<[string, unknown]> =>
      this.#exec(`SELECT key, value FROM ${KV} WHERE key >= ? AND key > ? AND key < ? ORDER BY key LIMIT ?`, [
        prefix,
        startAfter,
        `${prefix}\u{10FFFF}`,
        limit,
      ])
        .toArray()
        .map(({ key, value }) => [key as string, deserialize(value as Uint8Array)]),
  };

  transactionSync<Result>(run: () => Result): Result {
    this.#begin();
    const writesBefore = this.#open?.writes.length ?? 0;
    this.#database.exec("SAVEPOINT inner_one");
    try {
      const result = run();
      this.#database.exec("RELEASE inner_one");
      return result;
    } catch (error) {
      this.#database.exec("ROLLBACK TO inner_one");
      this.#database.exec("RELEASE inner_one");
      this.#open?.writes.splice(writesBefore);
      throw error;
    }
  }

  // Asynchronous as on the platform; what they do is done at once.
  readonly getAlarm = async (): Promise<number | null> => this.alarmAtMs ?? null;
  readonly setAlarm = async (atMs: number): Promise<void> =>
    void this.#exec(`INSERT OR REPLACE INTO ${ALARM} (id, at) VALUES (0, ?)`, [atMs]);
  /** Resolves when all that was written so far is durable; in a life that ends before that, never. */
  readonly sync = (): Promise<void> => {
    const group = this.newestGroup;
    return group === undefined
      ? Promise.resolve()
      : new Promise((resolve) => void this.#awaited.push({ group, resolve }));
  };
  readonly deleteAlarm = async (): Promise<void> => this.takeAlarm();
  readonly deleteAll = async (): Promise<void> => {
    // Virtual tables take along the tables that they are made of.
    const named = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf\\_%' ESCAPE '\\'";
    for (const { name } of this.#exec(`${named} ORDER BY sql LIKE 'CREATE VIRTUAL%' DESC`, []))
      this.#exec(`DROP TABLE IF EXISTS "${name as string}"`, []);
    this.#exec(`DELETE FROM ${KV}`, []);
  };

  // ---- as the platform sees it -----------------------------------------------------------------------------

  get alarmAtMs(): number | undefined {
    return this.#exec(`SELECT at FROM ${ALARM}`, []).toArray()[0]?.["at"] as number | undefined;
  }

  takeAlarm(): void {
    const { failure } = this;
    this.failure = undefined;
    this.#exec(`DELETE FROM ${ALARM}`, []);
    this.failure = failure;
  }

  /** The youngest group that is not durable yet, if there is any. */
  get newestGroup(): number | undefined {
    return this.#open && this.#open.writes.length > 0 ? this.#open.id : this.#groups.at(-1)?.id;
  }

  /** Closes the group of the writes so far. @returns the group, if it has any writes */
  closeGroup(): number | undefined {
    const group = this.#open;
    this.#open = undefined;
    if (!group || group.writes.length === 0) return undefined;
    this.#groups.push(group);
    return group.id;
  }

  /** Whether a group that is not durable yet writes to tables of that name. */
  touches(id: number, table: string): boolean {
    return this.#groups.some((group) => group.id === id && group.writes.some(({ text }) => text.includes(table)));
  }

  /** The oldest group is durable. */
  confirm(id: number): void {
    const [oldest, ...younger] = this.#groups;
    if (oldest?.id !== id) throw new Error(`group ${id} is not the oldest`);
    this.#keepOnly([oldest]);
    this.#groups = [];
    for (const { group, resolve } of this.#awaited) if (group <= id) this.resume(resolve);
    this.#awaited = this.#awaited.filter(({ group }) => group > id);
    const open = this.#open;
    this.#open = undefined;
    for (const group of younger) {
      this.#redo(group);
      this.#groups.push(group);
    }
    if (!open) return;
    this.#redo(open);
    this.#open = open;
  }

  /** @param kept how many groups, the oldest first, turn out to have become durable, though nobody heard of it */
  crash(kept: number): void {
    this.#awaited = [];
    this.#keepOnly(this.#groups.slice(0, kept));
    this.#groups = [];
    this.#open = undefined;
  }

  get unconfirmed(): number {
    return this.#groups.length;
  }

  #keepOnly(groups: readonly Group[]): void {
    if (groups.length === this.#groups.length && !this.#open) {
      if (this.#isBegun) this.#database.exec("COMMIT");
      this.#isBegun = false;
      return;
    }
    if (this.#isBegun) this.#database.exec("ROLLBACK");
    this.#isBegun = false;
    for (const group of groups) this.#redo(group);
    if (this.#isBegun) this.#database.exec("COMMIT");
    this.#isBegun = false;
  }

  #redo({ writes }: Group): void {
    this.#begin();
    for (const { text, bindings } of writes) this.#statement(text).run(...bindings);
  }

  #begin(): void {
    if (this.#isBegun) return;
    this.#database.exec("BEGIN");
    this.#isBegun = true;
  }

  #exec(text: string, given: readonly Value[]): Cursor {
    // SQLite of the platform takes whole numbers as such.
    const bindings = given.map((value) => (Number.isSafeInteger(value) ? (BigInt(value as number) as never) : value));
    if (!WRITE.test(text)) return new Cursor(this.#statement(text).all(...bindings) as Row[], 0);
    if (this.failure) throw this.failure;
    this.#begin();
    const { changes } = this.#statement(text).run(...bindings);
    this.#open ??= { id: ++this.#groupIds, writes: [] };
    this.#open.writes.push({ text, bindings });
    return new Cursor([], Number(changes));
  }

  #statement(text: string): StatementSync {
    let statement = this.#statements.get(text);
    if (!statement) this.#statements.set(text, (statement = this.#database.prepare(text)));
    return statement;
  }
}
