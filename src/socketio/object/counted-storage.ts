// Wraps the storage of an object to count its billed operations: rows written, by SQL and by key, and alarms set. Called by
// durable/chat-room.ts, durable/room-shard.ts, features/directory/object.ts and stored-format.ts.
import type { Meter } from "../engine/backpressure.ts";

/** @returns the same storage, counted */
export function countedStorage(
  storage: DurableObjectStorage,
  meter: Meter,
  series = "rows:room",
): DurableObjectStorage {
  const countRow = (): void => meter.count(series);
  const { sql: own } = storage;
  const sql = withExec(own, (...args) => {
    const cursor = own.exec(...args);
    // A statement that writes has written by now. One that reads goes on with the cursor, and writes nothing.
    const { rowsWritten } = cursor;
    if (rowsWritten > 0) meter.count(series, rowsWritten);
    return cursor;
  });
  const kv = wrap(storage.kv, {
    put: (...args: Parameters<SyncKvStorage["put"]>) => {
      storage.kv.put(...args);
      countRow();
    },
    delete: (key: string) => {
      const wasThere = storage.kv.delete(key);
      if (wasThere) countRow();
      return wasThere;
    },
  });
  const setAlarm: DurableObjectStorage["setAlarm"] = (...args) => {
    meter.count("alarms_set");
    return storage.setAlarm(...args);
  };
  return wrap(storage, { sql, kv, setAlarm });
}

/** What this project uses of the database, with another `exec`. No proxy, because each statement would pass it. */
export const withExec = (
  sql: SqlStorage,
  exec: (...args: Parameters<SqlStorage["exec"]>) => ReturnType<SqlStorage["exec"]>,
): SqlStorage =>
  ({
    exec,
    get databaseSize() {
      return sql.databaseSize;
    },
  }) as SqlStorage;

/** Wraps an object of the platform. Its methods are bound to it, because they throw when the proxy is their `this`. */
export function wrap<Target extends object>(target: Target, replaced: object): Target {
  const members = new Map<PropertyKey, unknown>(Object.entries(replaced));
  return new Proxy(target, {
    get(_target, name) {
      if (members.has(name)) return members.get(name);
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      const bound: unknown = value.bind(target);
      members.set(name, bound);
      return bound;
    },
  });
}
