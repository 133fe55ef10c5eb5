// The key-value half of an object's storage, synchronous (`kv`) and asynchronous, in one table. Called by storage.ts.
import { deserialize, serialize } from "node:v8";

import type { Cursor, Value } from "./sql.ts";

/** The table; the platform hides its own in the same way. */
export const KV = "_cf_KV";

export interface ListOptions {
  readonly start?: string;
  readonly startAfter?: string;
  readonly end?: string;
  readonly prefix?: string;
  readonly reverse?: boolean;
  readonly limit?: number;
}

const BEHIND_ALL = "\u{10FFFF}";

export class KeyValues {
  readonly #exec: (text: string, bindings: readonly Value[]) => Cursor;

  constructor(exec: (text: string, bindings: readonly Value[]) => Cursor) {
    this.#exec = exec;
  }

  readonly kv = {
    get: (key: string): unknown => {
      const [row] = this.#exec(`SELECT value FROM ${KV} WHERE key = ?`, [key]).toArray();
      return row && deserialize(new Uint8Array(row["value"] as ArrayBuffer));
    },
    put: (key: string, value: unknown): void =>
      void this.#exec(`INSERT OR REPLACE INTO ${KV} (key, value) VALUES (?, ?)`, [key, serialize(value)]),
    delete: (key: string): boolean => this.#exec(`DELETE FROM ${KV} WHERE key = ?`, [key]).rowsWritten > 0,
    list: (options: ListOptions = {}): Array<[string, unknown]> => this.#list(options),
  };

  #list({
    prefix = "",
    start = "",
    startAfter = "",
    end = BEHIND_ALL,
    reverse = false,
    limit = -1,
  }: ListOptions): Array<[string, unknown]> {
    const order = reverse ? "DESC" : "ASC";
    const text = `SELECT key, value FROM ${KV} WHERE key >= ? AND key >= ? AND key > ? AND key < ? AND key < ? ORDER BY key ${order} LIMIT ?`;
    return this.#exec(text, [prefix, start, startAfter, `${prefix}${BEHIND_ALL}`, end, limit])
      .toArray()
      .map(({ key, value }) => [key as string, deserialize(new Uint8Array(value as ArrayBuffer))]);
  }

  // Done at once, and answered later, as on the platform.
  readonly get = async (keys: string | readonly string[]): Promise<unknown> => {
    if (typeof keys === "string") return this.kv.get(keys);
    return new Map(keys.map((key) => [key, this.kv.get(key)] as const).filter(([, value]) => value !== undefined));
  };

  readonly put = async (entries: string | Readonly<Record<string, unknown>>, value?: unknown): Promise<void> => {
    if (typeof entries === "string") return this.kv.put(entries, value);
    for (const [key, one] of Object.entries(entries)) this.kv.put(key, one);
  };

  readonly delete = async (keys: string | readonly string[]): Promise<boolean | number> => {
    if (typeof keys === "string") return this.kv.delete(keys);
    return keys.filter((key) => this.kv.delete(key)).length;
  };

  readonly list = async (options?: ListOptions): Promise<Map<string, unknown>> => new Map(this.#list(options ?? {}));
}
