// The name of a log, unique among all logs, and the key that signs ids for clients. Made with the log, kept as long as
// the log. Called by sql-message-log.ts, and by the logs of other namespaces (sql-recovery-log.ts).

export interface LogName extends Record<string, SqlStorageValue> {
  epoch: string;
  key: string;
}

/** @param newName makes an unguessable name or key */
export function nameLog(sql: SqlStorage, newName: () => string): LogName {
  sql.exec("CREATE TABLE IF NOT EXISTS log_names (epoch TEXT NOT NULL, key TEXT NOT NULL)");
  const [known] = sql.exec<LogName>("SELECT epoch, key FROM log_names LIMIT 1");
  if (known) return known;
  const name: LogName = { epoch: newName(), key: newName() };
  sql.exec("INSERT INTO log_names (epoch, key) VALUES (?, ?)", name.epoch, name.key);
  return name;
}
