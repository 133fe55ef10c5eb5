// The rooms of a lobby in its storage, and the totals of their counts. Called by lobby.ts.
import { Meter, type Counts } from "../../metrics/meter.ts";
import { READER_LENGTH, unreadBy } from "../../protocol/unread.ts";
import { ENTRIES_PER_PAGE, PagedMap } from "../../storage/paged-map.ts";
import type { KeptRoom } from "./kept-room.ts";

/** The rows of a lobby. */
export interface RoomTable {
  read(): Iterable<{ readonly page: number; readonly rooms: readonly KeptRoom[]; readonly counts: Counts }>;
  /** Replaces a row. */
  write(page: number, rooms: readonly KeptRoom[], counts: Counts): void;
}

/**
 * Bits of the filter of a page. With 20 readers to each room, 8 of 100 pages on which a user reads nothing are looked through in vain; for
 * 100,000 rooms all filters together take 3 MB, where a map by reader would take more than an object has.
 */
const FILTER_BITS = 65_536;

/** The readers of the rooms of a page: a bit for each of them, and for some who are gone. */
interface ReaderFilter {
  readonly bits: Uint8Array;
  /** Rooms that were set on the page since. */
  changes: number;
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
  /** By page; each is made when a user looks. */
  readonly #readers = new Map<number, ReaderFilter>();

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

  /** The rooms that a user reads (protocol/unread.ts), without a look at most others. */
  readBy(mark: string): string[] {
    const bit = bitOf(mark);
    const found: string[] = [];
    for (const { number, entries } of this.#rooms.pages()) {
      if (!isSet(this.#readersOn(number, entries), bit)) continue;
      for (const { room, unread = "" } of entries.values()) if (unreadBy(unread, mark) !== undefined) found.push(room);
    }
    return found;
  }

  #readersOn(page: number, entries: ReadonlyMap<string, KeptRoom>): ReaderFilter {
    const known = this.#readers.get(page);
    // A filter keeps the bits of readers who are gone, so the lobby makes it anew after as many changes as a page has rooms.
    if (known && known.changes < ENTRIES_PER_PAGE) return known;
    const made: ReaderFilter = { bits: new Uint8Array(FILTER_BITS / 8), changes: 0 };
    for (const kept of entries.values()) noteReaders(made, kept);
    this.#readers.set(page, made);
    return made;
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
    const readers = this.#readers.get(this.#rooms.pageOf(room.room)!);
    if (!readers) return;
    readers.changes++;
    noteReaders(readers, room);
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

/**
 * A mark is a part of a digest, so some of its characters are as good as a hash.
 * @param at the beginning of the mark in the text
 */
const bitOf = (text: string, at = 0): number =>
  (text.charCodeAt(at) * 68_921 +
    text.charCodeAt(at + 1) * 1681 +
    text.charCodeAt(at + 2) * 41 +
    text.charCodeAt(at + 3)) %
  FILTER_BITS;

const isSet = ({ bits }: ReaderFilter, bit: number): boolean => ((bits[bit >> 3]! >> (bit & 7)) & 1) === 1;

function noteReaders({ bits }: ReaderFilter, { unread = "" }: KeptRoom): void {
  for (let at = 0; at < unread.length; at += READER_LENGTH) {
    const bit = bitOf(unread, at);
    bits[bit >> 3]! |= 1 << (bit & 7);
  }
}
