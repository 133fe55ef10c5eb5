// The name of a log, unique among all logs, and the key that signs what it gives to clients. Made with the log, kept as long as
// the log. Used by sql-message-log.ts.

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

/** Names a log at the first write, or when its name is read: a room that is only looked at stores nothing (API-13). */
export class LateName {
  readonly #name: () => LogName;
  #known: LogName | undefined;

  constructor(sql: SqlStorage, newName: () => string) {
    this.#name = () => nameLog(sql, newName);
  }

  keep(): LogName {
    return (this.#known ??= this.#name());
  }

  get epoch(): string {
    return this.keep().epoch;
  }

  get key(): string {
    return this.keep().key;
  }
}
