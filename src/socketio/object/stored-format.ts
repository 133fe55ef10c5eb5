// The version of an object's data. Older data is migrated when the object wakes; newer data is refused, and nothing of it is read or
// written, so that an older release can be deployed again at any time. Used by all classes of objects.
import { OtherRelease } from "../../rpc/other-release.ts";
import { withExec, wrap } from "./counted-storage.ts";

/** The data of one kind of object. */
export interface StoredFormat {
  /** Names the object in errors, as `a room`. */
  readonly of: string;
  /**
   * The first leads from version 1 to version 2. All that are due run in one transaction with the new version, before anything else reads
   * the data.
   */
  readonly migrations: ReadonlyArray<(storage: DurableObjectStorage) => void>;
}

/** The data of every object of Socket.IO: its recovery logs. An application's own data is its own business. */
export const RECOVERY_FORMAT: StoredFormat = { of: "the object", migrations: [] };

/** The key of the version among the values of the object. */
export const VERSION_KEY = "parley:format";

/** The wait of an alarm that an object cannot run yet. */
const PUT_OFF_MS = 900_000;

/** The data is of a newer version than this code. */
export class NewerData extends OtherRelease {
  override readonly name = "NewerData";

  constructor(of: string, stored: number, known: number) {
    super(`${of} holds data of version ${stored}, and this release reads up to version ${known}`);
  }
}

/**
 * Opens the storage of an object. The version is stored with the object's first data: one that is only looked at stores nothing.
 * @returns the storage for all that the object reads and writes
 * @throws NewerData
 */
export function openStored(storage: DurableObjectStorage, format: StoredFormat): DurableObjectStorage {
  const { of, migrations } = format;
  const stored = storedVersion(storage);
  if (stored === undefined) return versionedByFirstWrite(storage, format);
  if (isNewer(storage, format)) throw new NewerData(of, stored, versionOf(format));
  const due = migrations.slice(stored - 1);
  if (due.length > 0)
    storage.transactionSync(() => {
      for (const migrate of due) migrate(storage);
      storage.kv.put(VERSION_KEY, versionOf(format));
    });
  return storage;
}

/** Whether `openStored` would refuse it. */
export const isNewer = (storage: DurableObjectStorage, format: StoredFormat): boolean =>
  (storedVersion(storage) ?? 0) > versionOf(format);

const storedVersion = ({ kv }: Pick<DurableObjectStorage, "kv">): number | undefined => kv.get<number>(VERSION_KEY);

const versionOf = ({ migrations }: StoredFormat): number => migrations.length + 1;

const READS = /^\s*SELECT\b/i;

function versionedByFirstWrite(storage: DurableObjectStorage, format: StoredFormat): DurableObjectStorage {
  let isStored = false;
  const beforeWrite = (): void => {
    if (isStored) return;
    if (storedVersion(storage) === undefined) storage.kv.put(VERSION_KEY, versionOf(format));
    isStored = true;
  };
  const { sql: own } = storage;
  const sql = withExec(own, (...args) => {
    if (!isStored && !READS.test(args[0])) beforeWrite();
    return own.exec(...args);
  });
  const kv = wrap(storage.kv, {
    put: (...args: Parameters<SyncKvStorage["put"]>) => {
      beforeWrite();
      storage.kv.put(...args);
    },
  });
  const transactionSync = <Result>(run: () => Result): Result => {
    const wasStored = isStored;
    try {
      return storage.transactionSync(run);
    } catch (error) {
      // The rollback may have taken the version back, too.
      isStored = wasStored;
      throw error;
    }
  };
  return wrap(storage, { sql, kv, transactionSync });
}

/** Called when an object with newer data gets its alarm, which the platform would give up after some tries. */
export function putOffAlarm(storage: DurableObjectStorage): Promise<void> {
  return storage.setAlarm(Date.now() + PUT_OFF_MS);
}
