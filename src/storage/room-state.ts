// The key-value storage of a room for all data but its messages, such as bans and read marks. Each `put` and `delete` is a row written, so
// features write few values and seldom. The platform's synchronous key-value storage implements it.

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
