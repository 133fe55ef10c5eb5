// Erasing all that an object stores, but for what it leaves to its next life. The platform's own `deleteAll` takes effect by
// itself: where the process dies right behind it, what was written after it is lost.

interface TableRow extends Record<string, SqlStorageValue> {
  name: string;
}

/** Stores what an object leaves to its next life. */
export type Leave = () => void;

/** Virtual tables come first and take along the tables that they are made of, which cannot be dropped themselves. */
const TABLES = `SELECT name FROM sqlite_master
  WHERE type = 'table' AND name NOT LIKE '\\_cf\\_%' ESCAPE '\\' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
  ORDER BY sql LIKE 'CREATE VIRTUAL%' DESC`;

/**
 * Takes effect before it returns; what it promises is word of it.
 * @param leave what it stores is stored with the erasing, or neither is done
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
