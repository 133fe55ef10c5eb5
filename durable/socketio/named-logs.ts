// Lists the recovery logs in one database by name, and drops unused ones: clients name the namespaces that are made on demand, so their
// logs must not stay for ever. Called by sql-recovery-log.ts.
import type { LogName } from "../sql/log-name.ts";

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

/** The open logs of each object in this isolate, by its storage. */
const openLogs = new WeakMap<DurableObjectStorage, Set<number>>();

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
  openIn(storage).add(log.id);
  return log;
}

/** Called when its namespace is empty. After a window no client can recover in it any more, and the log is dropped. */
export function closeNamedLog(storage: DurableObjectStorage, id: number, nowMs: number): void {
  openIn(storage).delete(id);
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

function openIn(storage: DurableObjectStorage): Set<number> {
  const open = openLogs.get(storage) ?? new Set();
  openLogs.set(storage, open);
  return open;
}

function find(sql: SqlStorage, name: string): NamedLog | undefined {
  const [log] = sql.exec<NamedLog>("SELECT id, epoch, key FROM recovery_logs WHERE name = ?", name);
  return log;
}

function make(storage: DurableObjectStorage, name: string, { windowMs, nowMs, newName }: Making): NamedLog {
  dropAbandoned(storage, nowMs);
  const [epoch, key] = [newName(), newName()];
  const values = [name, epoch, key, windowMs];
  storage.sql.exec("INSERT INTO recovery_logs (name, epoch, key, window_ms) VALUES (?, ?, ?, ?)", ...values);
  return find(storage.sql, name)!;
}

interface Registered extends Record<string, SqlStorageValue> {
  id: number;
  window_ms: number;
  closed_at_ms: number | null;
}

/** Drops logs that were closed for a window. An instance that died left its logs open: their window begins now. */
function dropAbandoned(storage: DurableObjectStorage, nowMs: number): void {
  const open = openIn(storage);
  const logs = storage.sql.exec<Registered>("SELECT id, window_ms, closed_at_ms FROM recovery_logs").toArray();
  for (const { id, window_ms, closed_at_ms } of logs) {
    if (open.has(id)) continue;
    if (closed_at_ms === null) closeNamedLog(storage, id, nowMs);
    else if (nowMs - closed_at_ms > window_ms) drop(storage, id);
  }
}

function drop(storage: DurableObjectStorage, id: number): void {
  for (const table of tablesOf(id)) storage.sql.exec(`DROP TABLE IF EXISTS ${table}`);
  for (const [key] of storage.kv.list({ prefix: rememberedPrefixOf(id) })) storage.kv.delete(key);
  storage.sql.exec("DELETE FROM recovery_logs WHERE id = ?", id);
}
