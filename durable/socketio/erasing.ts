// Erases the storage of an object, except for the data of its next life. The platform's own `deleteAll` is a transaction of its own:
// where the process dies right behind it, data written after it is lost. Called by socket-object.ts.

interface TableRow extends Record<string, SqlStorageValue> {
  name: string;
}

/** Stores the data that an object leaves to its next life. */
export type Leave = () => void;

/** Virtual tables come first and take along the tables that they are made of, which cannot be dropped themselves. */
const TABLES = `SELECT name FROM sqlite_master
  WHERE type = 'table' AND name NOT LIKE '\\_cf\\_%' ESCAPE '\\' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
  ORDER BY sql LIKE 'CREATE VIRTUAL%' DESC`;

/**
 * Erases before it returns; the promise resolves when that is stored.
 * @param leave writes in the transaction of the erasing
 */
export async function eraseStored(storage: DurableObjectStorage, leave?: Leave): Promise<void> {
  if (leave) eraseBut(storage, leave);
  else await storage.deleteAll();
}

function eraseBut(storage: DurableObjectStorage, leave: Leave): void {
  const { sql, kv } = storage;
  storage.transactionSync(() => {
    for (const { name } of sql.exec<TableRow>(TABLES).toArray()) sql.exec(`DROP TABLE IF EXISTS "${name}"`);
    for (const key of Array.from(kv.list(), ([name]) => name)) kv.delete(key);
    leave();
  });
}
