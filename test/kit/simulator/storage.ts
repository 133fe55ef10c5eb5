// The storage of one object: SQLite, whose writes become durable in groups, a while after they were made. Until then a crash may take them,
// the youngest first, and nothing that was sent after them has left the object. Made by object-host.ts.
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";

import { KeyValues, KV } from "./key-values.ts";
import { Cursor, isWrite, statementsOf, type Row, type Value } from "./sql.ts";

interface Statement {
  readonly prepared: StatementSync;
  readonly isWrite: boolean;
  readonly columns: readonly string[];
}

interface Write {
  readonly text: string;
  readonly bindings: readonly SQLInputValue[];
}

/** The writes of one event, which become durable or get lost together. */
interface Group {
  readonly id: number;
  readonly writes: Write[];
}

/** The durable state at some moment: so many writes. */
export type Backup = number;

const ALARM = "_cf_ALARM";
const BYTES = "SELECT page_count * page_size AS bytes FROM pragma_page_count(), pragma_page_size()";

export class Storage {
  /** While set, writing fails with it. */
  failure: Error | undefined;
  /** Lets the object go on that waited, in its own time. */
  resume: (run: () => void) => void = (run) => run();
  #database!: DatabaseSync;
  readonly #statements = new Map<string, Statement>();
  /** The statements of each text. */
  readonly #texts = new Map<string, readonly string[]>();
  #durable: Write[] = [];
  /** Closed, and on their way. */
  #groups: Group[] = [];
  #open: Group | undefined;
  #isBegun = false;
  #groupIds = 0;
  /** Callers that wait until a group is durable. */
  #awaited: Array<{ readonly group: number; readonly resolve: () => void }> = [];

  constructor() {
    this.#openDatabase();
    Object.defineProperty(this.sql, "databaseSize", { get: () => this.#exec(BYTES, []).toArray()[0]!["bytes"] });
  }

  #openDatabase(): void {
    this.#statements.clear();
    this.#database = new DatabaseSync(":memory:");
    this.#database.exec(`CREATE TABLE ${KV} (key TEXT PRIMARY KEY, value BLOB)`);
    this.#database.exec(`CREATE TABLE ${ALARM} (id INTEGER PRIMARY KEY, at REAL)`);
  }

  close(): void {
    this.#statements.clear();
    this.#database.close();
  }

  // ---- as the object sees it -------------------------------------------------------------------------------

  readonly sql = {
    exec: (text: string, ...bindings: readonly Value[]): Cursor => this.#exec(text, bindings),
    databaseSize: 0,
  };

  readonly #keyValues = new KeyValues((text, bindings) => this.#exec(text, bindings));
  readonly kv = this.#keyValues.kv;
  readonly get = this.#keyValues.get;
  readonly put = this.#keyValues.put;
  readonly delete = this.#keyValues.delete;
  readonly list = this.#keyValues.list;

  transactionSync<Result>(run: () => Result): Result {
    const end = this.#savepoint();
    try {
      const result = run();
      end(true);
      return result;
    } catch (error) {
      end(false);
      throw error;
    }
  }

  async transaction<Result>(run: (storage: Storage) => Promise<Result>): Promise<Result> {
    const end = this.#savepoint();
    try {
      const result = await run(this);
      end(true);
      return result;
    } catch (error) {
      end(false);
      throw error;
    }
  }

  #savepoint(): (isGood: boolean) => void {
    this.#begin();
    const writesBefore = this.#open?.writes.length ?? 0;
    this.#database.exec("SAVEPOINT inner_one");
    return (isGood) => {
      if (!isGood) {
        this.#database.exec("ROLLBACK TO inner_one");
        this.#open?.writes.splice(writesBefore);
      }
      this.#database.exec("RELEASE inner_one");
    };
  }

  // Done at once, and answered later, as on the platform.
  readonly getAlarm = async (): Promise<number | null> => this.alarmAtMs ?? null;
  readonly setAlarm = async (at: number | Date): Promise<void> =>
    void this.#exec(`INSERT OR REPLACE INTO ${ALARM} (id, at) VALUES (0, ?)`, [Number(at)]);
  readonly deleteAlarm = async (): Promise<void> => this.takeAlarm();
  /** Resolves when all that was written so far is durable; in an incarnation that ends before that, never. */
  readonly sync = (): Promise<void> => {
    const group = this.newestGroup;
    return group === undefined
      ? Promise.resolve()
      : new Promise((resolve) => void this.#awaited.push({ group, resolve }));
  };
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
      this.#redo(group.writes);
      this.#groups.push(group);
    }
    if (!open) return;
    this.#redo(open.writes);
    this.#open = open;
  }

  /** @param kept how many groups, the oldest first, turn out to have become durable, although the object did not hear of it */
  crash(kept: number): void {
    this.#awaited = [];
    this.#keepOnly(this.#groups.slice(0, kept));
    this.#groups = [];
    this.#open = undefined;
  }

  get unconfirmed(): number {
    return this.#groups.length;
  }

  backup(): Backup {
    return this.#durable.length;
  }

  /** Of an object that has just died: takes everything back that became durable after the backup. */
  restore(backup: Backup): void {
    const kept = this.#durable.slice(0, backup);
    this.#database.close();
    this.#openDatabase();
    this.#redo(kept);
    if (this.#isBegun) this.#database.exec("COMMIT");
    this.#isBegun = false;
    this.#durable = kept;
  }

  /** Ends the transaction with these groups, and without any other write. */
  #keepOnly(groups: readonly Group[]): void {
    const isAll = groups.length === this.#groups.length && !this.#open;
    if (!isAll) {
      if (this.#isBegun) this.#database.exec("ROLLBACK");
      this.#isBegun = false;
      for (const { writes } of groups) this.#redo(writes);
    }
    for (const { writes } of groups) this.#durable.push(...writes);
    if (this.#isBegun) this.#database.exec("COMMIT");
    this.#isBegun = false;
  }

  #redo(writes: readonly Write[]): void {
    this.#begin();
    for (const { text, bindings } of writes) this.#statement(text).prepared.run(...bindings);
  }

  #begin(): void {
    if (this.#isBegun) return;
    this.#database.exec("BEGIN");
    this.#isBegun = true;
  }

  #exec(text: string, bindings: readonly Value[]): Cursor {
    let texts = this.#texts.get(text);
    if (!texts) this.#texts.set(text, (texts = statementsOf(text)));
    for (const earlier of texts.slice(0, -1)) this.#execOne(earlier, []);
    return this.#execOne(texts.at(-1) ?? "", bindings.map(toSqlite));
  }

  #execOne(text: string, bindings: readonly SQLInputValue[]): Cursor {
    const { prepared, isWrite, columns } = this.#statement(text);
    if (!isWrite) return new Cursor(prepared.all(...bindings) as Row[], columns, 0);
    if (this.failure) throw this.failure;
    this.#begin();
    // With RETURNING a write has rows.
    const rows = columns.length > 0 ? (prepared.all(...bindings) as Row[]) : undefined;
    const written = rows?.length ?? Number(prepared.run(...bindings).changes);
    this.#open ??= { id: ++this.#groupIds, writes: [] };
    this.#open.writes.push({ text, bindings });
    return new Cursor(rows ?? [], columns, written);
  }

  #statement(text: string): Statement {
    let statement = this.#statements.get(text);
    if (statement) return statement;
    const prepared = this.#database.prepare(text);
    statement = { prepared, isWrite: isWrite(text), columns: prepared.columns().map(({ name }) => name) };
    this.#statements.set(text, statement);
    return statement;
  }
}

/** SQLite of the platform takes whole numbers as such. */
function toSqlite(value: Value): SQLInputValue {
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  return Number.isSafeInteger(value) ? BigInt(value as number) : value;
}
