// Overwrites the pages that dropped tables left free in the file of a room, where their text would stay until SQLite needs them. Called by
// durable/chat-room.ts for a deleted room, and by features/search/sql-search-index.ts.

/**
 * Sizes of the blobs that fill free pages, in bytes: the large ones as long as they fit, then smaller ones. A page has 4,096. Each
 * blob fills a leaf of the table, and the rest of it whole pages, so that no old bytes are left between.
 */
const FILLERS_BYTES = [265_945, 69_529, 20_425, 4058];

/** So many bytes are filled at most: after the room dropped a part of the search index, and after it was deleted. */
export const FREE_BYTES_FILLED_MAX = { part: 16 * 1024 * 1024, room: 64 * 1024 * 1024 };

/**
 * Filled besides, because SQLite may take pages first that were free before. It is a guess: where more was free, some text stays. The file grows
 * by so much at most, once.
 */
const OTHER_FREE_BYTES = 1024 * 1024;

const TABLE = "overwriting";

/**
 * Fills pages that have become free, and gives them back.
 * @param bytes the size of the database before: it does not count free pages, and the platform does not say how many there are
 */
export function fillFreePages(
  storage: DurableObjectStorage,
  bytes: number,
  filledMax = FREE_BYTES_FILLED_MAX.part,
): void {
  const { sql } = storage;
  storage.transactionSync(() => {
    sql.exec(`CREATE TABLE ${TABLE} (filler BLOB)`);
    let filled = 0;
    for (const size of FILLERS_BYTES)
      while (filled < filledMax && fill(storage, size, bytes + OTHER_FREE_BYTES)) filled += size;
    sql.exec(`DROP TABLE ${TABLE}`);
  });
}

class Grown extends Error {}

/** Adds a filler, and takes it back if the file grew: then it found no free pages enough. @returns whether it stays */
function fill(storage: DurableObjectStorage, size: number, bytesMax: number): boolean {
  const { sql } = storage;
  try {
    storage.transactionSync(() => {
      sql.exec(`INSERT INTO ${TABLE} (filler) VALUES (zeroblob(?))`, size);
      if (sql.databaseSize > bytesMax) throw new Grown();
    });
    return true;
  } catch (error) {
    if (error instanceof Grown) return false;
    throw error;
  }
}
