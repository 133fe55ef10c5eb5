// Erases the storage of an object, and stores data for the time after it in the same transaction. The platform's
// `deleteAll` is a transaction of its own: if the process died after it, that data would be lost. Called by
// socket-object.ts.
import { VERSION_KEY } from "./stored-format.ts";

interface TableRow extends Record<string, SqlStorageValue> {
  name: string;
}

/** Stores data that the erased object begins with. */
export type StoreAfterErase = () => void;

/** Virtual tables come first: dropping one drops its shadow tables, which cannot be dropped themselves. */
const TABLES = `SELECT name FROM sqlite_master
  WHERE type = 'table' AND name NOT LIKE '\\_cf\\_%' ESCAPE '\\' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
  ORDER BY sql LIKE 'CREATE VIRTUAL%' DESC`;

/**
 * Erases before it returns; the promise resolves when that is stored.
 * @param storeAfter called in the transaction that erases
 */
export async function eraseStored(storage: DurableObjectStorage, storeAfter?: StoreAfterErase): Promise<void> {
  if (!storeAfter) return storage.deleteAll();
  const { sql, kv } = storage;
  storage.transactionSync(() => {
    for (const { name } of sql.exec<TableRow>(TABLES).toArray()) sql.exec(`DROP TABLE IF EXISTS "${name}"`);
    // The version stays, because it holds for the next data, too.
    for (const key of Array.from(kv.list(), ([name]) => name)) if (key !== VERSION_KEY) kv.delete(key);
    storeAfter();
  });
}
