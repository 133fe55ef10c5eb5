// The stored values of a room in memory. Called by chat-room.ts and by tests of features that store values.
import type { RoomState } from "../../src/storage/room-state.ts";

/** Values by name, kept as the platform keeps them: a value that was put in changes no more. */
export class MemoryState implements RoomState {
  readonly #values = new Map<string, unknown>();
  /** While set, storing fails with it. */
  failure: Error | undefined;
  /** Values that are stored before it fails. */
  storedBeforeFailure = 0;
  /** While set, listing fails with it. */
  unreadable: Error | undefined;
  /** While set, reading a value fails with it. */
  damage: Error | undefined;
  /** Rows written. */
  writes = 0;

  get(key: string): unknown {
    if (this.damage) throw this.damage;
    return structuredClone(this.#values.get(key));
  }

  put(key: string, value: unknown): void {
    if (this.failure && this.storedBeforeFailure-- <= 0) throw this.failure;
    this.writes++;
    this.#values.set(key, structuredClone(value));
  }

  delete(key: string): void {
    this.writes++;
    this.#values.delete(key);
  }

  *list({ prefix, startAfter = "", limit }: Parameters<RoomState["list"]>[0]): Iterable<[string, unknown]> {
    if (this.unreadable) throw this.unreadable;
    const keys = [...this.#values.keys()].filter((key) => key.startsWith(prefix) && key > startAfter);
    for (const key of keys.toSorted().slice(0, limit)) yield [key, this.get(key)];
  }
}
