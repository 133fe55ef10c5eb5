// A map with 256 entries to a stored row, because storage is billed by rows written. An entry stays on its page for as long as it is in the
// map, so a change writes one row. Used by read marks, notified members and the lobby.
import type { RoomState } from "./room-state.ts";

export const ENTRIES_PER_PAGE = 256;

/** Where the pages of one map are stored, one row per page. */
export interface PageStore<Value> {
  /** All stored pages, in any order. */
  read(): Iterable<readonly [page: number, entries: Iterable<readonly [key: string, value: Value]>]>;
  /** Replaces a page, or deletes it if there are no entries. */
  write(page: number, entries: ReadonlyMap<string, Value>): void;
}

interface Page<Value> {
  readonly number: number;
  readonly entries: Map<string, Value>;
}

export class PagedMap<Value> {
  readonly #store: PageStore<Value>;
  readonly #pagesMax: number;
  /** The oldest first. */
  readonly #pages: Array<Page<Value>> = [];
  readonly #pageOf = new Map<string, Page<Value>>();
  /** Pages that differ from their stored row. */
  readonly #changed = new Set<Page<Value>>();

  /**
   * Reads all pages.
   * @param pagesMax one more page replaces the oldest one, whose entries are lost
   */
  constructor(store: PageStore<Value>, pagesMax = Infinity) {
    this.#store = store;
    this.#pagesMax = pagesMax;
    for (const [number, entries] of store.read()) this.#pages.push({ number, entries: new Map(entries) });
    this.#pages.sort((a, b) => a.number - b.number);
    for (const page of this.#pages) for (const key of page.entries.keys()) this.#pageOf.set(key, page);
  }

  get size(): number {
    return this.#pageOf.size;
  }

  /** Whether `save` would write anything. */
  get hasChanged(): boolean {
    return this.#changed.size > 0;
  }

  get(key: string): Value | undefined {
    return this.#pageOf.get(key)?.entries.get(key);
  }

  pages(): Iterable<{ readonly number: number; readonly entries: ReadonlyMap<string, Value> }> {
    return this.#pages;
  }

  /** @returns the number of its page */
  pageOf(key: string): number | undefined {
    return this.#pageOf.get(key)?.number;
  }

  *entries(): Iterable<[key: string, value: Value]> {
    for (const { entries } of this.#pages) yield* entries;
  }

  *values(): Iterable<Value> {
    for (const { entries } of this.#pages) yield* entries.values();
  }

  set(key: string, value: Value): void {
    const page = this.#pageOf.get(key) ?? this.#pageWithSpace();
    page.entries.set(key, value);
    this.#pageOf.set(key, page);
    this.#changed.add(page);
  }

  /** Changes a value without a row of its own: it is stored with the next change on its page. */
  amend(key: string, value: Value): void {
    this.#pageOf.get(key)?.entries.set(key, value);
  }

  delete(key: string): void {
    const page = this.#pageOf.get(key);
    if (!page) return;
    page.entries.delete(key);
    this.#pageOf.delete(key);
    this.#changed.add(page);
  }

  /** Whether the page of a key has changes that are not stored. */
  isUnsaved(key: string): boolean {
    const page = this.#pageOf.get(key);
    return page !== undefined && this.#changed.has(page);
  }

  /**
   * Writes one row per changed page.
   * @param keys if given, only their pages
   * @throws a storage error; the next call writes what this one could not
   */
  save(keys?: Iterable<string>): void {
    const pages = keys ? new Set(Array.from(keys, (key) => this.#pageOf.get(key))) : this.#changed;
    for (const page of pages) if (page && this.#changed.has(page)) this.#write(page);
  }

  /** Writes one row, that of a changed page if there is one. For stores that add data without a row of its own to a page. */
  saveOne(): void {
    const [page = this.#pages[0] ?? this.#addPage()] = this.#changed;
    this.#write(page);
  }

  #write(page: Page<Value>): void {
    this.#store.write(page.number, page.entries);
    this.#changed.delete(page);
  }

  /** @returns a page with space, a changed one if possible, because that is written anyway */
  #pageWithSpace(): Page<Value> {
    const open = this.#pages.filter(({ entries }) => entries.size < ENTRIES_PER_PAGE);
    return open.find((page) => this.#changed.has(page)) ?? open[0] ?? this.#addPage();
  }

  #addPage(): Page<Value> {
    const page: Page<Value> = { number: (this.#pages.at(-1)?.number ?? -1) + 1, entries: new Map() };
    this.#pages.push(page);
    if (this.#pages.length > this.#pagesMax) {
      const oldest = this.#pages.shift()!;
      for (const key of oldest.entries.keys()) this.#pageOf.delete(key);
      oldest.entries.clear();
      this.#changed.add(oldest);
    }
    return page;
  }
}

const NUMBER_LENGTH = 8;

/** Stores pages among the values of a room, under keys that begin with `prefix`. */
export function pagesIn<Value>(state: RoomState, prefix: string): PageStore<Value> {
  return {
    *read() {
      for (const [key, entries] of state.list({ prefix })) {
        yield [Number(key.slice(prefix.length)), entries as Map<string, Value>];
      }
    },
    write(page, entries) {
      const key = prefix + String(page).padStart(NUMBER_LENGTH, "0");
      if (entries.size > 0) state.put(key, entries);
      else state.delete(key);
    },
  };
}
