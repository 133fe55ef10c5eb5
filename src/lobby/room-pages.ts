// The rooms of a lobby in its storage, and the totals of what they counted. Called by lobby.ts.
import { Meter, type Tally } from "../metrics/meter.ts";
import { PagedMap } from "../storage/paged-map.ts";
import type { KeptRoom } from "./kept-room.ts";

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
  readonly #rooms: PagedMap<KeptRoom>;
  /** What was counted, by the page whose row holds it: the next row that is written takes what is new, so that it costs no row. */
  readonly #tallies: Meter[] = [];
  readonly #unstored = new Meter(TOTALS_SERIES_MAX);
  readonly #totals = new Meter(TOTALS_SERIES_MAX);

  constructor(table: RoomTable) {
    this.#table = table;
    this.#rooms = new PagedMap({
      read: () => this.#read(),
      write: (page, rooms) => this.#write(page, [...rooms.values()]),
    });
  }

  get size(): number {
    return this.#rooms.size;
  }

  /** Whether something has not been stored. */
  get hasChanged(): boolean {
    return this.#rooms.hasChanged || !this.#unstored.isEmpty;
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
    this.#rooms.set(room.room, room);
  }

  delete(room: string): void {
    this.#rooms.delete(room);
  }

  /**
   * Stores what was counted, and the rooms that have changed.
   * @param rooms where given, only their pages
   * @throws a storage error; the next call writes what this one could not
   */
  save(rooms?: readonly string[]): void {
    this.#rooms.save(rooms);
    if (!this.#unstored.isEmpty) this.#rooms.saveOne();
  }

  *#read(): Iterable<readonly [page: number, rooms: Array<readonly [room: string, kept: KeptRoom]>]> {
    for (const { page, rooms, tally } of this.#table.read()) {
      this.#tallyOf(page).add(tally);
      this.#totals.add(tally);
      yield [page, rooms.map((kept) => [kept.room, kept])];
    }
  }

  #write(page: number, rooms: readonly KeptRoom[]): void {
    const news = this.#unstored.read();
    const tally = new Meter(TOTALS_SERIES_MAX);
    tally.add(this.#tallyOf(page).read());
    tally.add(news);
    this.#table.write(page, rooms, tally.read());
    this.#tallies[page] = tally;
    this.#totals.add(news);
    this.#unstored.take();
  }

  #tallyOf(page: number): Meter {
    return (this.#tallies[page] ??= new Meter(TOTALS_SERIES_MAX));
  }
}
