// Key-value storage of a room for all but its messages, such as bans and read marks. Values are few and rarely written, because
// each `put` and `delete` is a row written. Implemented by the platform's synchronous key-value storage as it is.

export interface RoomState {
  get(key: string): unknown;
  /** @param value what a structured clone carries */
  put(key: string, value: unknown): void;
  delete(key: string): void;
  /** In the order of the keys. */
  list(options: {
    readonly prefix: string;
    /** Keys behind this one only. */
    readonly startAfter?: string;
    readonly limit?: number;
  }): Iterable<[string, unknown]>;
}
