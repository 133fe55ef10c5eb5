// The key-value storage of a room for all data but its messages, such as bans and read marks. Each `put` and `delete` is a row written, so
// parts write few values and seldom.

export interface RoomState {
  get(key: string): unknown;
  /** @param value plain data (structured clone) */
  put(key: string, value: unknown): void;
  delete(key: string): void;
  /** Lists values in the order of their keys. */
  list(options: {
    readonly prefix: string;
    /** Only keys after this one. */
    readonly startAfter?: string;
    readonly limit?: number;
  }): Iterable<[string, unknown]>;
}

/** Values that a list reads at once. */
const READ_AT_ONCE = 32;

/**
 * The state in the key-value storage of an object. A list is read in steps, each to its end: while a list of the platform is open, SQLite drops
 * no table, and callers may stop early.
 */
export const stateIn = (kv: RoomState): RoomState => ({
  get: (key) => kv.get(key),
  put: (key, value) => kv.put(key, value),
  delete: (key) => kv.delete(key),
  *list({ prefix, startAfter, limit = Infinity }) {
    let after = startAfter;
    for (let left = limit; left > 0; left -= READ_AT_ONCE) {
      const atOnce = Math.min(READ_AT_ONCE, left);
      const rows = [...kv.list({ prefix, limit: atOnce, ...(after !== undefined && { startAfter: after }) })];
      yield* rows;
      if (rows.length < atOnce) return;
      after = rows.at(-1)![0];
    }
  },
});
