// Lengths of text by which a row that loses its text is written where it stood: SQLite only forgets where deleted text was, keeps the bytes until
// it needs the place, and the platform takes no `PRAGMA secure_delete`. Called by change-tables.ts and log-segments.ts. Where whole tables
// were dropped, free-pages.ts overwrites.

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
 * The first row of a table: it fills a page of 4,096 bytes. Once a table needs a second page, SQLite moves the rows of its first page, and
 * their bytes stay there: these blanks.
 */
export const PAGE_FILLER = " ".repeat(4050);
