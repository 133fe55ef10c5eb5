// Where rooms stand in a lobby's storage: many to a row, because rows written are what a lobby is billed for. A room keeps
// its place for as long as it is listed, so that a report changes one row.
import { Meter, type Tally } from "../metrics/meter.ts";
import type { KeptRoom } from "./kept-room.ts";

/** Rooms that share a row: some 100 kB of it, where all of them are busy. */
export const ROOMS_PER_PAGE = 256;

/** The rows of a lobby. */
export interface RoomTable {
  read(): Iterable<{ readonly page: number; readonly rooms: readonly KeptRoom[]; readonly tally: Tally }>;
  /** Replaces a row. */
  write(page: number, rooms: readonly KeptRoom[], tally: Tally): void;
}

/** Series that a lobby tells apart. */
const TOTALS_SERIES_MAX = 2000;

export class RoomPages {
  readonly #table: RoomTable;
  readonly #rooms = new Map<string, KeptRoom>();
  readonly #pageOf = new Map<string, number>();
  readonly #pages: Array<Set<string>> = [];
  readonly #changed = new Set<number>();
  /** What was counted, by the page that it stands on: whichever is stored next takes what is new, so that it costs no row. */
  readonly #tallies: Meter[] = [];
  readonly #unstored = new Meter(TOTALS_SERIES_MAX);
  readonly #totals = new Meter(TOTALS_SERIES_MAX);

  constructor(table: RoomTable) {
    this.#table = table;
    for (const { page, rooms, tally } of table.read()) {
      for (const room of rooms) this.#place(room, page);
      this.#tallyOf(page).add(tally);
      this.#totals.add(tally);
    }
  }

  get size(): number {
    return this.#rooms.size;
  }

  /** Whether something has not been stored. */
  get hasChanged(): boolean {
    return this.#changed.size > 0 || !this.#unstored.isEmpty;
  }

  /** All that was ever counted and is stored. */
  get totals(): Tally {
    return this.#totals.read();
  }

  count(tally: Tally): void {
    this.#unstored.add(tally);
  }

  get(room: string): KeptRoom | undefined {
    return this.#rooms.get(room);
  }

  all(): Iterable<KeptRoom> {
    return this.#rooms.values();
  }

  set(room: KeptRoom): void {
    const page = this.#pageOf.get(room.room) ?? this.#pageWithSpace();
    this.#place(room, page);
    this.#changed.add(page);
  }

  delete(room: string): void {
    const page = this.#pageOf.get(room);
    if (page === undefined) return;
    this.#rooms.delete(room);
    this.#pageOf.delete(room);
    this.#pages[page]!.delete(room);
    this.#changed.add(page);
  }

  /** Stores what has changed. What could not be stored is still to be. */
  save(): void {
    this.#saveTally();
    for (const page of this.#changed) this.#write(page);
  }

  /** Stores what was counted, and the pages of these rooms as far as they have changed. */
  saveShown(rooms: readonly string[]): void {
    const pages = new Set(rooms.map((room) => this.#pageOf.get(room)!));
    for (const page of pages) if (this.#changed.has(page)) this.#write(page);
    this.#saveTally();
  }

  /** One row, of a page that has to be stored anyway if there is one. */
  #saveTally(): void {
    if (this.#unstored.isEmpty) return;
    const [page = 0] = this.#changed;
    this.#write(page);
  }

  #write(page: number): void {
    const rooms = [...(this.#pages[page] ?? [])].map((room) => this.#rooms.get(room)!);
    const news = this.#unstored.read();
    const tally = new Meter(TOTALS_SERIES_MAX);
    tally.add(this.#tallyOf(page).read());
    tally.add(news);
    this.#table.write(page, rooms, tally.read());
    this.#tallies[page] = tally;
    this.#totals.add(news);
    this.#unstored.take();
    this.#changed.delete(page);
  }

  #tallyOf(page: number): Meter {
    return (this.#tallies[page] ??= new Meter(TOTALS_SERIES_MAX));
  }

  #place(room: KeptRoom, page: number): void {
    while (this.#pages.length <= page) this.#pages.push(new Set());
    this.#pages[page]!.add(room.room);
    this.#pageOf.set(room.room, page);
    this.#rooms.set(room.room, room);
  }

  #pageWithSpace(): number {
    const page = this.#pages.findIndex(({ size }) => size < ROOMS_PER_PAGE);
    return page === -1 ? this.#pages.length : page;
  }
}
