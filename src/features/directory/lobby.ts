// The list of rooms: keeps the last report of each room and answers from it, so that listing wakes no room (LOB-1). Stores reports
// at once in quiet times and together in busy ones (LOB-7). Called by object.ts.
import { UserRooms, type RoomBounds } from "../../clock/user-rooms.ts";
import { Throttle } from "../../clock/rates.ts";
import type { Whereabouts } from "../../protocol/announcement.ts";
import { isDirectRoom } from "../../protocol/direct-name.ts";
import { byActivity, type DirectOverview, type DirectPage } from "../../protocol/direct-room.ts";
import { eachMark, markOf } from "../../protocol/people-marks.ts";
import { roomAllowed } from "../../protocol/room-name.ts";
import {
  byPlace,
  REPORT_AGAIN_MS,
  type RefusedPayers,
  type ReportAnswer,
  type RoomPage,
  type RoomQuery,
  type RoomReport,
  type CounterDelta,
} from "../../protocol/room-list.ts";
import type { RoomOverview } from "../../protocol/chat-events.ts";
import { Meter } from "../../metrics/meter.ts";
import type { RoomUsage, Scrape, UsageQuery } from "../../metrics/busiest-rooms.ts";
import type { Deadline } from "../../clock/deadlines.ts";
import type { JoinedRoom, JoinedRooms } from "../../protocol/schemas/unread.ts";
import { mentionsOf, readerMark, unreadBy, UNREAD_MAX } from "../../protocol/unread.ts";
import { Looks } from "./looks.ts";
import { keptRoom, seenAt, withCounts, type KeptRoom } from "./kept-room.ts";
import { NewestNumbers } from "./newest-numbers.ts";
import { RoomPages, type RoomTable } from "./room-pages.ts";
import { mostUsed, sumOf } from "./room-usage.ts";
import { SortedRooms } from "./sorted-rooms.ts";

/**
 * From one write to the next. A second of waiting for further reports costs about as much as a row and a half; while they keep
 * coming the wait grows, and a crash may take the reports of that time.
 */
export const SAVE_WINDOW_MS_MIN = 1000;
export const SAVE_WINDOW_MS_MAX = 60_000;

/**
 * Rooms that one lobby lists. Of more it drops a tenth, all of them empty: first small rooms of one author, which cost one person little to
 * make in thousands, and last rooms of several authors; among equals those that were quiet the longest.
 */
export const ROOMS_MAX = 100_000;
/** A small room has so many messages at most. */
export const SMALL_ROOM_MESSAGES = 20;

/** A room that is awake repeats its report sooner, so that a place in it counts on. */
const LEASE_MS = REPORT_AGAIN_MS + 300_000;

/** Rooms in a user's list. */
export const JOINED_MAX = 500;

/** From one search for unused conversations to the next. */
const FORGET_INTERVAL_MS = 3_600_000;

/** Rooms that a scrape names. */
export const TOP_ROOMS = 20;

export interface LobbyPorts {
  readonly table: RoomTable;
  /** Calls `save` of this lobby when it is due, and keeps its object awake. */
  readonly saveDeadline: Deadline;
  /** Whether rooms report their members; `want` asks for it from now on. */
  readonly people: { readonly isWanted: boolean; want(): void };
  readonly report: (problem: string, error: unknown) => void;
  /** Counts the work of the lobby itself. */
  readonly meter?: Meter;
  /** LIM-8. Absent: there are none. */
  readonly bounds?: RoomBounds;
  /** Smaller in tests. */
  readonly roomsMax?: number;
  /** Tells instances of this lobby apart. */
  readonly instance: string;
}

export class Lobby {
  readonly #ports: LobbyPorts;
  readonly #instance: string;
  readonly #rooms: RoomPages;
  readonly #reports = new NewestNumbers({ takesEqual: true });
  readonly #deltas = new NewestNumbers({ takesEqual: false });
  readonly #meter: Meter;
  readonly #sorted = new SortedRooms();
  readonly #looks = new Looks();
  readonly #forgetting = new Throttle(FORGET_INTERVAL_MS);
  readonly #userRooms = new UserRooms(LEASE_MS);
  readonly #window = new Throttle(SAVE_WINDOW_MS_MIN, SAVE_WINDOW_MS_MAX);

  constructor(ports: LobbyPorts) {
    this.#ports = ports;
    this.#rooms = new RoomPages(ports.table);
    this.#meter = ports.meter ?? new Meter();
    this.#instance = ports.instance;
  }

  report(report: RoomReport, nowMs: number): ReportAnswer {
    this.#meter.count("reports");
    const { room, delta, madeAtMs } = report;
    const before = this.#rooms.get(room);
    const isFresh = delta && this.#deltas.take(room, delta.id, before?.usage?.deltaId);
    const counts = isFresh ? delta.counts : undefined;
    if (counts) this.#rooms.count(counts);
    let refused: RefusedPayers | undefined;
    if (this.#reports.take(room, madeAtMs)) {
      // A room keeps the members up to date only after the answer that asks for them.
      const { people: _, ...withoutPeople } = report;
      const kept = keptRoom(this.wantsPeople ? report : withoutPeople, nowMs, before, counts);
      refused = this.#countPayers(report, before, nowMs);
      const isListed = seenAt(kept, nowMs) !== undefined && refused?.setting !== "NEW_ROOMS_PER_USER";
      if (isListed) this.#rooms.set(kept);
      else this.#rooms.delete(room);
      this.#looks.heard(room, nowMs);
      this.#looks.changed(room, before, isListed ? kept : undefined);
      this.#dropRooms(nowMs);
    } else if (before && counts) {
      // A later report has overtaken it: its counts alone are news.
      this.#rooms.set({ ...before, usage: withCounts(before.usage, report, nowMs, counts)! });
    }
    this.#saveInTime(nowMs);
    const isWatched = this.#looks.isWatched(report, nowMs);
    return {
      ...(this.wantsPeople && { wantsPeople: true }),
      ...(refused && { refused }),
      ...(isWatched && { isWatched }),
    };
  }

  /** LIM-8: counts the room for those who are in it. @returns those for whom it is one too many */
  #countPayers(
    { room, payers = "", begunBy }: RoomReport,
    before: KeptRoom | undefined,
    nowMs: number,
  ): RefusedPayers | undefined {
    const { bounds } = this.#ports;
    if (!bounds) return undefined;
    const here = [...eachMark(payers)];
    for (const mark of eachMark(before?.payers ?? "")) if (!here.includes(mark)) this.#userRooms.leave(mark, room);
    if (begunBy !== undefined) {
      const excess = this.#userRooms.excessOfBeginning(begunBy, room, bounds, nowMs);
      if (excess) return { ...excess, marks: [begunBy] };
      this.#userRooms.begin(begunBy, room, nowMs);
    }
    let refused: RefusedPayers | undefined;
    for (const mark of here) {
      const excess = this.#userRooms.excessOfEntry(mark, room, bounds, nowMs);
      if (excess) refused = { ...excess, marks: [...(refused?.marks ?? []), mark] };
      else this.#userRooms.enter(mark, room, nowMs);
    }
    return refused;
  }

  /** Drops conversations that are not listed any more (LOB-8), once an hour, and rooms of a list that is full. */
  #dropRooms(nowMs: number): void {
    const seen = (kept: KeptRoom): RoomOverview | undefined => seenAt(kept, nowMs);
    if (this.#forgetting.passIfOpen(nowMs)) {
      const unused = Array.from(this.#rooms.all()).filter((kept) => kept.direct && !seen(kept));
      for (const { room } of unused) this.#rooms.delete(room);
    }
    const { roomsMax = ROOMS_MAX } = this.#ports;
    if (this.#rooms.size <= roomsMax) return;
    const idle = [...this.#rooms.all()].filter((kept) => (seen(kept)?.members ?? 0) === 0);
    idle.sort((a, b) => weightOf(a) - weightOf(b) || (a.lastActivity ?? 0) - (b.lastActivity ?? 0));
    for (const { room } of idle.slice(0, Math.ceil(roomsMax / 10))) this.#rooms.delete(room);
  }

  /** Takes the counts of a Worker. @param delta with a higher id than the one before, or the same where it is sent again: MET-3 */
  count(source: string, delta: CounterDelta, nowMs: number): void {
    if (!this.#deltas.take(source, delta.id)) return;
    this.#rooms.count(delta.counts);
    this.#saveInTime(nowMs);
  }

  #saveInTime(nowMs: number): void {
    if (!this.#rooms.hasChanged) return;
    if (this.#window.isOpen(nowMs)) this.save(nowMs);
    else this.#ports.saveDeadline.pull(this.#window.dueMs(nowMs));
  }

  /** Stores the reports since the last time. */
  save(nowMs: number): void {
    this.#window.pass(nowMs);
    this.#ports.saveDeadline.clear();
    this.#store(() => this.#rooms.save(), nowMs);
  }

  #store(save: () => void, nowMs: number): void {
    // Its own counts are no reason to write: they go with the next rows.
    if (this.#rooms.hasChanged) this.#rooms.count(this.#meter.take());
    try {
      save();
    } catch (error) {
      this.#ports.report("reports of rooms could not be stored", error);
      this.#ports.saveDeadline.set(this.#window.dueMs(nowMs));
    }
  }

  list(query: RoomQuery, nowMs: number): RoomPage {
    const { sort, limit, after } = query;
    const found: RoomOverview[] = [];
    for (const { room, place } of this.#sorted.in(sort, nowMs, this.#rooms.size, () => this.#seen(nowMs))) {
      if ((after !== undefined && byPlace(place, after) <= 0) || !isMeant(query, room)) continue;
      found.push(room);
      if (found.length > limit) break;
    }
    return { rooms: found.slice(0, limit), hasMore: found.length > limit };
  }

  /**
   * The numbers for `GET /metrics`. Stores all counts first, also those of the rooms that it names, so that no number is ever lower
   * the next time. In a list of one page that costs one row, and none where nothing happened (MET-3).
   */
  scrape(nowMs: number): Scrape {
    const top = mostUsed(this.#rooms.all(), { sort: "traffic", limit: TOP_ROOMS }, nowMs);
    this.#store(() => this.#rooms.save(top.map(({ room }) => room)), nowMs);
    return { ...sumOf(this.#rooms.all(), nowMs), totals: this.#rooms.totals, top };
  }

  usage(query: UsageQuery, nowMs: number): RoomUsage[] {
    return mostUsed(this.#rooms.all(), query, nowMs);
  }

  countRooms(query: Omit<RoomQuery, "sort" | "limit" | "after">, nowMs: number): number {
    return Array.from(this.#seen(nowMs)).filter((room) => isMeant({ ...query, sort: "name", limit: 0 }, room)).length;
  }

  /**
   * LOB-9: the rooms that a user has been in, those with the newest messages first, and what is new there.
   * @param untilMs the user looks until then at least
   * @param opened the rooms that the user's token opens
   */
  joined(
    user: string,
    { untilMs, opened }: { readonly untilMs: number; readonly opened?: readonly string[] | undefined },
    nowMs: number,
  ): JoinedRooms {
    const { rooms, version, unaware } = this.#looks.begin(user, { untilMs, nowMs }, (mark) => this.#rooms.readBy(mark));
    const mark = readerMark(user);
    const found: JoinedRoom[] = [];
    for (const name of rooms) {
      const kept = this.#rooms.get(name);
      const overview = kept && seenAt(kept, nowMs);
      if (!overview || !roomAllowed(opened, name)) continue;
      const { users, names } = kept.direct ?? {};
      const other = users && 1 - users.indexOf(user);
      const direct = other !== undefined && { user: users![other]!, name: names?.[other] ?? users![other]! };
      const { unread = "", mentioned = "" } = kept;
      const news = { unread: unreadBy(unread, mark) ?? 0, ...mentionsOf(mentioned, mark) };
      found.push({ ...overview, ...news, ...(direct && { direct }) });
    }
    found.sort((a, b) => (b.lastActivity ?? 0) - (a.lastActivity ?? 0) || (a.room < b.room ? -1 : 1));
    return { rooms: found.slice(0, JOINED_MAX), version: `${this.#instance}.${version}`, unaware };
  }

  /** Calls back once, at the next change of a user's list. @returns a function that ends it */
  whenChanged(user: string, changed: () => void): () => void {
    return this.#looks.wait(user, changed);
  }

  /** DM-4: a user's conversations, behind `after`. */
  listDirect(
    user: string,
    { limit, after }: { readonly limit: number; readonly after?: DirectOverview },
    nowMs: number,
  ): DirectPage {
    const mark = readerMark(user);
    const found: DirectOverview[] = [];
    for (const kept of this.#rooms.directOf(user)) {
      const { room, lastSeq, lastActivity, direct } = kept;
      const own = direct?.users.indexOf(user) ?? -1;
      if (own === -1 || !seenAt(kept, nowMs)) continue;
      const places = Math.max(0, lastSeq - direct!.read[own]!);
      const counted = unreadBy(kept.unread ?? "", mark) ?? UNREAD_MAX;
      // Beyond what rooms count, places stand for messages.
      const unread = counted < UNREAD_MAX ? counted : places;
      found.push({ room, user: direct!.users[1 - own]!, lastSeq, lastActivity, unread });
    }
    const behind = found.filter((dm) => !after || byActivity(dm, after) > 0).sort(byActivity);
    return { dms: behind.slice(0, limit), hasMore: behind.length > limit };
  }

  get wantsPeople(): boolean {
    return this.#ports.people.isWanted;
  }

  /** ANN-7. */
  find(users: readonly string[], nowMs: number): Whereabouts {
    if (!this.wantsPeople) this.#ports.people.want();
    const numbersOf = new Map<string, number[]>();
    users.forEach((user, number) => {
      const mark = markOf(user);
      const known = numbersOf.get(mark);
      if (known) known.push(number);
      else numbersOf.set(mark, [number]);
    });
    const found: Array<readonly [string, readonly number[]]> = [];
    const unknown: string[] = [];
    for (const kept of this.#rooms.all()) {
      if ((seenAt(kept, nowMs)?.members ?? 0) === 0) continue;
      if (kept.people === undefined) unknown.push(kept.room);
      else {
        const here = [...eachMark(kept.people)].flatMap((mark) => numbersOf.get(mark) ?? []);
        if (here.length > 0) found.push([kept.room, here]);
      }
    }
    return { found, unknown };
  }

  *#seen(nowMs: number): Iterable<RoomOverview> {
    for (const kept of this.#rooms.all()) {
      const seen = seenAt(kept, nowMs);
      if (seen) yield seen;
    }
  }
}

/** The higher it is, the longer a full list keeps the room. */
const weightOf = ({ isShared, lastSeq }: KeptRoom): number =>
  2 * Number(isShared ?? false) + Number(lastSeq > SMALL_ROOM_MESSAGES);

function isMeant(query: RoomQuery, { room, members }: RoomOverview): boolean {
  const { prefix = "", rooms, isForMembers = false, isOccupied = false } = query;
  if (!room.startsWith(prefix) || !roomAllowed(rooms, room)) return false;
  return !(isForMembers && isDirectRoom(room)) && !(isOccupied && members === 0);
}
