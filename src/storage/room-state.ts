// What a room remembers besides its messages: a few values by name, such as who is banned. Small and rarely
// written, because each `put` and `delete` is a row written. The shell's synchronous key-value storage fits it as it is.

export interface RoomState {
  get(key: string): unknown;
  /** @param value what a structured clone carries */
  put(key: string, value: unknown): void;
  delete(key: string): void;
  /** In the order of the keys. */
  list(options: {
    readonly prefix: string;
    /** A key: what stands behind it is meant. */
    readonly startAfter?: string;
    readonly limit?: number;
  }): Iterable<[string, unknown]>;
}
