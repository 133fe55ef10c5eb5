// Where rooms stand in a lobby's storage: many to a row, because rows written are what a lobby is billed for. A room keeps
// its place for as long as it is listed, so that a report changes one row.
import type { KeptRoom } from "./kept-room.ts";

/** Rooms that share a row: some 25 kB of it. */
export const ROOMS_PER_PAGE = 256;

/** The rows of a lobby. */
export interface RoomTable {
  read(): Iterable<{ readonly page: number; readonly rooms: readonly KeptRoom[] }>;
  /** Replaces a row. */
  write(page: number, rooms: readonly KeptRoom[]): void;
}

export class RoomPages {
  readonly #table: RoomTable;
  readonly #rooms = new Map<string, KeptRoom>();
  readonly #pageOf = new Map<string, number>();
  readonly #pages: Array<Set<string>> = [];
  readonly #changed = new Set<number>();

  constructor(table: RoomTable) {
    this.#table = table;
    for (const { page, rooms } of table.read()) {
      for (const room of rooms) this.#place(room, page);
    }
  }

  get size(): number {
    return this.#rooms.size;
  }

  /** Whether something has not been stored. */
  get hasChanged(): boolean {
    return this.#changed.size > 0;
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
    for (const page of this.#changed) {
      this.#table.write(
        page,
        [...this.#pages[page]!].map((room) => this.#rooms.get(room)!),
      );
      this.#changed.delete(page);
    }
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
