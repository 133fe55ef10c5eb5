// Erases the storage of an object, except for the data of its next life. The platform's own `deleteAll` is a transaction of its own:
// where the process dies right behind it, data written after it is lost. Called by socket-object.ts.

interface TableRow extends Record<string, SqlStorageValue> {
  name: string;
}

/** Stores the data of the object's next life. */
export type StoreAfterErase = () => void;

/** Virtual tables come first and take along the tables that they are made of, which cannot be dropped themselves. */
const TABLES = `SELECT name FROM sqlite_master
  WHERE type = 'table' AND name NOT LIKE '\\_cf\\_%' ESCAPE '\\' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
  ORDER BY sql LIKE 'CREATE VIRTUAL%' DESC`;

/**
 * Erases before it returns; the promise resolves when that is stored.
 * @param storeAfter stores the data of the next life, in the transaction that erases
 */
export async function eraseStored(storage: DurableObjectStorage, storeAfter?: StoreAfterErase): Promise<void> {
  if (storeAfter) eraseBut(storage, storeAfter);
  else await storage.deleteAll();
}

function eraseBut(storage: DurableObjectStorage, storeAfter: StoreAfterErase): void {
  const { sql, kv } = storage;
  storage.transactionSync(() => {
    for (const { name } of sql.exec<TableRow>(TABLES).toArray()) sql.exec(`DROP TABLE IF EXISTS "${name}"`);
    for (const key of Array.from(kv.list(), ([name]) => name)) kv.delete(key);
    storeAfter();
  });
}
