// The directory in which `npm run serve` keeps its rooms is for one server at a time.
import { mkdirSync, readdirSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";

/** Extended result codes have the primary one in their low byte: https://www.sqlite.org/rescode.html */
const SQLITE_BUSY = 5;
const PRIMARY_CODE = 0xff;
/** Rooms are for the user that serves them, and not for others of the machine. */
const OWNER_ONLY = 0o700;
const OTHER_DIRECTORY = "Choose another one: npm run serve -- --state DIRECTORY";
const PROCESSES = "/proc";

/** Kept open, and thereby locked, until the process ends, however it ends. */
const held: DatabaseSync[] = [];

/**
 * Takes the directory for as long as this process lives, and makes it where there is none.
 *
 * @throws Error that says why it cannot be used
 */
export function takeStateDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: OWNER_ONLY });
    const database = new DatabaseSync(path.join(directory, "lock.sqlite"));
    held.push(database);
    // It writes, because a lock alone is given on a read-only file system, too.
    database.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; PRAGMA user_version = 1; COMMIT");
  } catch (error) {
    const { errcode = 0, message } = error as Error & { errcode?: number };
    const isBusy = (errcode & PRIMARY_CODE) === SQLITE_BUSY;
    const problem = isBusy ? "is in use by another server" : `cannot be used (${message})`;
    throw new Error(`${directory} ${problem}. ${OTHER_DIRECTORY}`, { cause: error });
  }
  const [orphan] = runtimesIn(realpathSync(directory));
  if (orphan !== undefined)
    throw new Error(
      `${directory} is in use by workerd, process ${orphan}, whose server was killed without it. ` +
        `End it (kill -9 ${orphan}; acked messages are on the disk), and start again.`,
    );
}

/**
 * The processes of workerd that have files of the directory open. The lock is their server's, which ends before them if it alone is
 * killed. Linux lists the files of a process; on other systems none is found.
 */
function runtimesIn(directory: string): string[] {
  return namesIn(PROCESSES)
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => orElse("", () => readFileSync(path.join(PROCESSES, pid, "comm"), "utf8")) === "workerd\n")
    .filter((pid) => {
      const files = path.join(PROCESSES, pid, "fd");
      return namesIn(files).some((file) =>
        orElse("", () => readlinkSync(path.join(files, file))).startsWith(directory + path.sep),
      );
    });
}

function namesIn(folder: string): string[] {
  return orElse([], () => readdirSync(folder));
}

/** Processes end while they are looked at, and those of other users cannot be. */
function orElse<Value>(absent: Value, read: () => Value): Value {
  try {
    return read();
  } catch {
    return absent;
  }
}
