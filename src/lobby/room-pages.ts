// The rooms of a lobby in its storage, and the totals of their counts. Called by lobby.ts.
import { Meter, type Counts } from "../metrics/meter.ts";
import { PagedMap } from "../storage/paged-map.ts";
import type { KeptRoom } from "./kept-room.ts";

/** The rows of a lobby. */
export interface RoomTable {
  read(): Iterable<{ readonly page: number; readonly rooms: readonly KeptRoom[]; readonly counts: Counts }>;
  /** Replaces a row. */
  write(page: number, rooms: readonly KeptRoom[], counts: Counts): void;
}

/** Series that a lobby tells apart. */
const TOTALS_SERIES_MAX = 2000;

export class RoomPages {
  readonly #table: RoomTable;
  readonly #rooms: PagedMap<KeptRoom>;
  /** Counts by the page whose row holds them. The next row that is written takes the new ones, so that they cost no row. */
  readonly #meters: Meter[] = [];
  readonly #unstored = new Meter(TOTALS_SERIES_MAX);
  readonly #totals = new Meter(TOTALS_SERIES_MAX);
  /** The names of each user's conversations; made when the first one asks. */
  #directOf: Map<string, Set<string>> | undefined;

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
  get totals(): Counts {
    return this.#totals.read();
  }

  count(counts: Counts): void {
    this.#unstored.add(counts);
  }

  get(room: string): KeptRoom | undefined {
    return this.#rooms.get(room);
  }

  all(): Iterable<KeptRoom> {
    return this.#rooms.values();
  }

  /** A user's conversations, without a look at all rooms. */
  directOf(user: string): KeptRoom[] {
    if (!this.#directOf) {
      this.#directOf = new Map();
      for (const room of this.all()) this.#noteDirect(room);
    }
    return Array.from(this.#directOf.get(user) ?? []).flatMap((room) => this.get(room) ?? []);
  }

  #noteDirect({ room, direct }: KeptRoom): void {
    const directOf = this.#directOf;
    if (!directOf || !direct) return;
    for (const user of direct.users) directOf.set(user, (directOf.get(user) ?? new Set()).add(room));
  }

  set(room: KeptRoom): void {
    this.#forgetDirect(room.room);
    this.#rooms.set(room.room, room);
    this.#noteDirect(room);
  }

  delete(room: string): void {
    this.#forgetDirect(room);
    this.#rooms.delete(room);
  }

  #forgetDirect(room: string): void {
    for (const user of this.get(room)?.direct?.users ?? []) {
      const own = this.#directOf?.get(user);
      if (own?.delete(room) && own.size === 0) this.#directOf?.delete(user);
    }
  }

  /**
   * Stores the counts, and the rooms that have changed.
   * @param rooms where given, only their pages
   * @throws a storage error; the next call writes what this one could not
   */
  save(rooms?: readonly string[]): void {
    this.#rooms.save(rooms);
    if (!this.#unstored.isEmpty) this.#rooms.saveOne();
  }

  *#read(): Iterable<readonly [page: number, rooms: Array<readonly [room: string, kept: KeptRoom]>]> {
    for (const { page, rooms, counts } of this.#table.read()) {
      this.#meterOf(page).add(counts);
      this.#totals.add(counts);
      yield [page, rooms.map((kept) => [kept.room, kept])];
    }
  }

  #write(page: number, rooms: readonly KeptRoom[]): void {
    const news = this.#unstored.read();
    const meter = new Meter(TOTALS_SERIES_MAX);
    meter.add(this.#meterOf(page).read());
    meter.add(news);
    this.#table.write(page, rooms, meter.read());
    this.#meters[page] = meter;
    this.#totals.add(news);
    this.#unstored.take();
  }

  #meterOf(page: number): Meter {
    return (this.#meters[page] ??= new Meter(TOTALS_SERIES_MAX));
  }
}
