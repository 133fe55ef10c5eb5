// The directory in which `npm run serve` keeps its rooms is for one server at a time.
import { mkdirSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";

/** Extended result codes have the primary one in their low byte: https://www.sqlite.org/rescode.html */
const SQLITE_BUSY = 5;
const PRIMARY_CODE = 0xff;

/** Kept open, and thereby locked, until the process ends, however it ends. */
const held: DatabaseSync[] = [];

/**
 * Takes the directory for as long as this process lives, and makes it where there is none.
 *
 * @throws Error that says why it cannot be used
 */
export function takeStateDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true });
    const database = new DatabaseSync(path.join(directory, "lock.sqlite"));
    held.push(database);
    database.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT");
  } catch (error) {
    const { errcode = 0, message } = error as Error & { errcode?: number };
    const isBusy = (errcode & PRIMARY_CODE) === SQLITE_BUSY;
    const problem = isBusy ? "is in use by another server" : `cannot be used (${message})`;
    throw new Error(`${directory} ${problem}. Choose another one: npm run serve -- --state DIRECTORY`, {
      cause: error,
    });
  }
}
