// Lists the recovery logs in one database by name, and drops unused ones: clients name the namespaces that are made on demand, so their
// logs must not stay for ever. Called by sql-recovery-log.ts.
import { DYNAMIC_NAMESPACES_MAX } from "../server/namespaces.ts";
import type { LogName } from "./log-name.ts";

/** Characters of a log's name. */
export const LOG_NAME_CHARS_MAX = 255;

interface NamedLog extends LogName {
  /** Stands in the names of its tables and keys. */
  id: number;
}

interface Making {
  /** How long the sockets of its namespace can be recovered. */
  readonly windowMs: number;
  readonly nowMs: number;
  readonly newName: () => string;
}

/**
 * Logs with a name in one object: as many as namespaces made on demand may be in service, and as many that clients may come back to. Beyond
 * it a log goes before its window is over, and those who come back to it get a fresh connection.
 */
export const NAMED_LOGS_MAX = 2 * DYNAMIC_NAMESPACES_MAX;

/** Logs that are looked at when one is made, in turn: each removal takes time, and nothing else runs meanwhile. */
const LOOKED_AT = 8;

/** Stored sockets of an unused log that go at a time. */
const SOCKETS_AT_A_TIME = 100;

/** The named logs of an object, as this instance knows them. */
interface Known {
  readonly open: Set<number>;
  count: number;
  /** The last one that was looked at. */
  lookedAt: number;
}

/** By the storage of each object in this isolate. */
const knownLogs = new WeakMap<DurableObjectStorage, Known>();

/** @throws RangeError if it is no valid name */
export function checkLogName(name: string): void {
  if (name.length > 0 && name.length <= LOG_NAME_CHARS_MAX && name.isWellFormed()) return;
  throw new RangeError(
    `a recovery log's name has 1 to ${LOG_NAME_CHARS_MAX} characters of well-formed text, not ${JSON.stringify(name.slice(0, 40))} (${name.length})`,
  );
}

/** @returns the log of that name, which is made if there is none */
export function openNamedLog(storage: DurableObjectStorage, name: string, making: Making): NamedLog {
  const { sql } = storage;
  const { windowMs } = making;
  sql.exec(
    "CREATE TABLE IF NOT EXISTS recovery_logs (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, epoch TEXT NOT NULL, key TEXT NOT NULL, window_ms INTEGER NOT NULL, closed_at_ms INTEGER)",
  );
  const log = find(sql, name) ?? make(storage, name, making);
  sql.exec(
    "UPDATE recovery_logs SET closed_at_ms = NULL, window_ms = ? WHERE id = ? AND (closed_at_ms IS NOT NULL OR window_ms <> ?)",
    windowMs,
    log.id,
    windowMs,
  );
  knownIn(storage).open.add(log.id);
  return log;
}

/** Called when its namespace is empty. After a window no client can recover in it any more, and the log is dropped. */
export function closeNamedLog(storage: DurableObjectStorage, id: number, nowMs: number): void {
  knownIn(storage).open.delete(id);
  storage.sql.exec("UPDATE recovery_logs SET closed_at_ms = ? WHERE id = ?", nowMs, id);
}

/** @returns the names of the two tables of a log. @param id `undefined` for the log without a name */
export function tablesOf(id: number | undefined): readonly [string, string] {
  const name = id === undefined ? "broadcasts" : `broadcasts_of_${id}`;
  return [`${name}_0`, `${name}_1`];
}

/** @returns the prefix of the keys of stored sockets. No such prefix begins with another one. */
export const rememberedPrefixOf = (id: number | undefined): string =>
  id === undefined ? "remembered:" : `remembered-${id}:`;

function knownIn(storage: DurableObjectStorage): Known {
  let known = knownLogs.get(storage);
  if (!known) {
    known = { open: new Set(), count: 0, lookedAt: 0 };
    knownLogs.set(storage, known);
  }
  return known;
}

function find(sql: SqlStorage, name: string): NamedLog | undefined {
  const [log] = sql.exec<NamedLog>("SELECT id, epoch, key FROM recovery_logs WHERE name = ?", name);
  return log;
}

function make(storage: DurableObjectStorage, name: string, { windowMs, nowMs, newName }: Making): NamedLog {
  dropUnused(storage, nowMs);
  const [epoch, key] = [newName(), newName()];
  const values = [name, epoch, key, windowMs];
  storage.sql.exec("INSERT INTO recovery_logs (name, epoch, key, window_ms) VALUES (?, ?, ?, ?)", ...values);
  knownIn(storage).count++;
  return find(storage.sql, name)!;
}

interface Registered extends Record<string, SqlStorageValue> {
  id: number;
  window_ms: number;
  closed_at_ms: number | null;
}

/**
 * Looks at the next few logs, and drops those that were closed for a window, or one of them if there are too many. An instance that died left
 * its logs open: their window begins now.
 */
function dropUnused(storage: DurableObjectStorage, nowMs: number): void {
  const known = knownIn(storage);
  // Counted once in each round through all of them.
  if (known.lookedAt === 0)
    known.count = storage.sql.exec<{ count: number }>("SELECT count(*) AS count FROM recovery_logs").one().count;
  const next = storage.sql
    .exec<Registered>(
      "SELECT id, window_ms, closed_at_ms FROM recovery_logs WHERE id > ? ORDER BY id LIMIT ?",
      known.lookedAt,
      LOOKED_AT,
    )
    .toArray();
  known.lookedAt = next.length < LOOKED_AT ? 0 : next.at(-1)!.id;
  for (const { id, window_ms, closed_at_ms } of next) {
    if (known.open.has(id)) continue;
    const isOver = closed_at_ms !== null && nowMs - closed_at_ms > window_ms;
    if (isOver || known.count >= NAMED_LOGS_MAX) drop(storage, id, known);
    else if (closed_at_ms === null) closeNamedLog(storage, id, nowMs);
  }
}

/** Its row goes last: if anything else is left, the log is dropped the next time. */
function drop(storage: DurableObjectStorage, id: number, known: Known): void {
  for (const table of tablesOf(id)) storage.sql.exec(`DROP TABLE IF EXISTS ${table}`);
  const sockets = [...storage.kv.list({ prefix: rememberedPrefixOf(id), limit: SOCKETS_AT_A_TIME })];
  for (const [key] of sockets) storage.kv.delete(key);
  if (sockets.length === SOCKETS_AT_A_TIME) return;
  storage.sql.exec("DELETE FROM recovery_logs WHERE id = ?", id);
  known.count--;
}
