// How far each user has read, as it is kept: many users' marks in one value, because a value is a row and rows are
// what writing costs.
import type { ReadMark } from "../../protocol/reading-events.ts";
import type { RoomState } from "../room/room-state.ts";

/** Readers whose marks share one value. */
export const READERS_PER_PAGE = 256;

/** With the page after so many, the oldest is given up: its readers begin anew (READ-4). */
export const READ_MARK_PAGES_MAX = 40;

const PREFIX = "read-marks:";

/** Marks by user. */
type Page = Map<string, number>;

interface Pages {
  /** By key, in the order in which they were begun. */
  readonly byKey: Map<string, Page>;
  readonly keyOf: Map<string, string>;
}

export class ReadMarks {
  readonly #state: RoomState;
  /** Read back when they are first asked for: a room that wakes for something else does not need them. */
  #pages: Pages | undefined;
  /** What connections brought through sleep, and may be newer than what is stored. */
  readonly #restored: ReadMark[] = [];
  /** Keys of pages that are not stored as they are. */
  readonly #unstored = new Set<string>();

  constructor(state: RoomState) {
    this.#state = state;
  }

  restore(mark: ReadMark): void {
    if (this.#pages) this.advance(mark);
    else this.#restored.push(mark);
  }

  get(user: string): number {
    const { byKey, keyOf } = this.#read();
    return byKey.get(keyOf.get(user) ?? "")?.get(user) ?? 0;
  }

  /** Whether a user's mark, or one on the same page, would be lost with the memory. */
  isUnstored(user: string): boolean {
    return this.#unstored.has(this.#read().keyOf.get(user) ?? "");
  }

  /** @returns whether that moved the user's mark: it never goes back (READ-1) */
  advance({ user, seq }: ReadMark): boolean {
    if (seq <= this.get(user)) return false;
    const pages = this.#read();
    const key = pages.keyOf.get(user) ?? this.#keyForOneMore(pages);
    pages.byKey.get(key)!.set(user, seq);
    pages.keyOf.set(user, key);
    this.#unstored.add(key);
    return true;
  }

  /**
   * Writes one row per page that changed.
   * @throws whatever the storage throws; what was not stored then is tried again the next time
   */
  store(): void {
    for (const key of this.#unstored) {
      this.#state.put(key, this.#read().byKey.get(key));
      this.#unstored.delete(key);
    }
  }

  /** The furthest first. */
  furthest(countMax: number): ReadMark[] {
    const marks = [...this.#read().byKey.values()].flatMap((page) => [...page]);
    marks.sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
    return marks.slice(0, countMax).map(([user, seq]) => ({ user, seq }));
  }

  #read(): Pages {
    if (this.#pages) return this.#pages;
    const byKey = new Map(this.#state.list({ prefix: PREFIX })) as Map<string, Page>;
    const keyOf = new Map<string, string>();
    for (const [key, page] of byKey) for (const user of page.keys()) keyOf.set(user, key);
    this.#pages = { byKey, keyOf };
    for (const mark of this.#restored.splice(0)) this.advance(mark);
    return this.#pages;
  }

  /** A page that has a place left. */
  #keyForOneMore(pages: Pages): string {
    const [newest, page] = [...pages.byKey].at(-1) ?? [];
    if (newest !== undefined && page!.size < READERS_PER_PAGE) return newest;
    const key = keyAfter(newest);
    pages.byKey.set(key, new Map());
    if (pages.byKey.size > READ_MARK_PAGES_MAX) this.#giveUpOldest(pages);
    return key;
  }

  #giveUpOldest({ byKey, keyOf }: Pages): void {
    const [key, page] = [...byKey][0]!;
    byKey.delete(key);
    for (const user of page.keys()) keyOf.delete(user);
    this.#unstored.delete(key);
    this.#state.delete(key);
  }
}

/** Numbers of one width, so that the order of the keys is the order of the pages. */
function keyAfter(key: string | undefined): string {
  const number = key === undefined ? 0 : Number(key.slice(PREFIX.length)) + 1;
  return `${PREFIX}${String(number).padStart(8, "0")}`;
}
