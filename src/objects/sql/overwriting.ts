// Overwrites deleted text in the file of a room: SQLite only forgets where it stood, and keeps the bytes until it needs the place.
// The platform takes no `PRAGMA secure_delete`. So a row that loses its text stays as long as it was, which SQLite writes
// in place; and where whole tables were dropped, the pages that this left free are filled.

/**
 * Sizes of the blobs that fill free pages, in bytes: the large ones as long as they fit, then smaller ones. A page has 4,096. Each
 * blob fills a leaf of the table, and the rest of it whole pages, so that no old bytes are left between.
 */
const FILLERS_BYTES = [265_945, 69_529, 20_425, 4058];

/** The room fills free pages up to so many bytes: after it dropped a part of the search index, and after it was deleted. */
export const FREE_BYTES_FILLED_MAX = { part: 16 * 1024 * 1024, room: 64 * 1024 * 1024 };

/**
 * Filled besides, because SQLite may take pages first that were free before: a guess, and where more was free, some text stays. The file grows
 * by so much at most, once.
 */
const OTHER_FREE_BYTES = 1024 * 1024;

const TABLE = "overwriting";

const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

/** JSON in place of other JSON, as long as that where it is shorter: SQLite then writes it where that stood. */
export function inPlaceOf(before: string, json: string): string {
  return json + " ".repeat(Math.max(0, bytesOf(before) - bytesOf(json)));
}

/** True where the new text needs more room than the old one, so that the row moves. */
export const isLonger = (before: string, text: string): boolean => bytesOf(text) > bytesOf(before);

/** Blank text of the same length, to write before the row becomes longer and moves. */
export const blankAs = (before: string): string => " ".repeat(bytesOf(before));

/**
 * Fills a page of 4,096 bytes as the first row of a table, so that later rows begin on another: the first page is copied once there are
 * more, and its old content stays in it where nothing overwrites that.
 */
export const PAGE_FILLER = " ".repeat(4050);

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
      while (filled < filledMax && fits(storage, size, bytes + OTHER_FREE_BYTES)) filled += size;
    sql.exec(`DROP TABLE ${TABLE}`);
  });
}

class Grown extends Error {}

/** @returns whether a filler found free pages enough; it is taken back otherwise */
function fits(storage: DurableObjectStorage, size: number, bytesMax: number): boolean {
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
