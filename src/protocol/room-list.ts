// The list of rooms as data: reports, queries, pages, and the order by which the pages of several lobbies merge into one (LOB-5).
// Used by rooms, lobbies and the Worker.
import type { RoomOverview } from "./chat-events.ts";
import type { DirectReport } from "./direct-room.ts";
import type { ReportedUnread } from "./unread.ts";

/** An occupied room repeats its report when it wakes after this (LOB-4). */
export const REPORT_AGAIN_MS = 30 * 60_000;

/** The counts of a room or a Worker since its last delta: MET-2. */
export interface CounterDelta {
  /** Higher than that of the delta before; the same where a delta is sent again because it may not have arrived. */
  readonly id: number;
  /** By series. */
  readonly counts: Readonly<Record<string, number>>;
}

/** Numbers that custom features say about a room, by name, such as open reports of abuse (OWN-8). */
export type RoomNumbers = Readonly<Record<string, number>>;

/** Marks of users, or of the networks of guests, whose rooms are counted (LIM-8). */
export interface PayerReport {
  /** Of those who came last into the room; absent where nobody is there. */
  readonly payers?: string;
  /** Of the one who began the room, in the hour after that. */
  readonly begunBy?: string;
}

/** Users whom the room has to send away: the lobby has counted too many rooms of theirs. */
export interface RefusedPayers {
  readonly marks: readonly string[];
  readonly setting: "MAX_ROOMS_PER_USER" | "NEW_ROOMS_PER_USER";
  readonly retryAfterMs: number;
}

/** A room's description of itself. */
export interface RoomReport extends RoomOverview, PayerReport, ReportedUnread {
  /** How long it counts as occupied without another report, in milliseconds (LOB-4). */
  readonly believedMs: number;
  /** The marks of its members (people-marks.ts), where the lobby wants them or they are few. */
  readonly people?: string;
  /** The users and read marks of a room between two people. */
  readonly direct?: DirectReport;
  /** By the room's own clock, in milliseconds since 1970: of two reports the later one counts, whichever arrives last. */
  readonly madeAtMs: number;
  readonly connections?: number;
  /** The number of its shards, and of the connections in them; absent where there are none. */
  readonly shards?: readonly [count: number, connections: number];
  /** Absent where there are none. */
  readonly facts?: RoomNumbers;
  /** Messages of more than one author are known. */
  readonly isShared?: true;
  /** The counts since then, or the delta that was sent before and may not have arrived. */
  readonly delta?: CounterDelta;
}

/** A report or a counter delta that was made earlier than the last one by more than this comes of a clock that was set back. */
export const OVERTAKEN_MS_MAX = 60_000;

export interface ReportAnswer {
  /** Whether the lobby needs the members: this deployment announces to users. */
  readonly wantsPeople?: true;
  readonly refused?: RefusedPayers;
  /** Whether a reader of the room looks at their list of rooms: changes are wanted soon (LOB-9). */
  readonly isWatched?: true;
}

export const ROOM_SORTS = ["activity", "members", "name"] as const;

/** By the newest message, by the number of members (the most come first), or by name. */
export type RoomSort = (typeof ROOM_SORTS)[number];

/** The end of a page: the value that its last room was sorted by, and its name. */
export interface RoomPlace {
  readonly value: number;
  readonly room: string;
}

export interface RoomQuery {
  readonly sort: RoomSort;
  readonly limit: number;
  /** Exclusive. */
  readonly after?: RoomPlace | undefined;
  /** The beginning of the names. */
  readonly prefix?: string | undefined;
  /** The `rooms` claim of a token: names, or prefixes ending in `*`. Absent: every room. */
  readonly rooms?: readonly string[] | undefined;
  /** Whether conversations between two users are left out. */
  readonly isForMembers?: boolean;
  /** Whether only occupied rooms are listed. */
  readonly isOccupied?: boolean;
}

export interface RoomPage {
  readonly rooms: readonly RoomOverview[];
  readonly hasMore: boolean;
}

/** The value that a room is sorted by; the higher comes first. */
export function valueIn(sort: RoomSort, { members, lastActivity }: RoomOverview): number {
  if (sort === "name") return 0;
  return sort === "members" ? members : (lastActivity ?? 0);
}

export const placeOf = (sort: RoomSort, room: RoomOverview): RoomPlace => ({
  value: valueIn(sort, room),
  room: room.room,
});

/** Names decide where the values are the same, so no two rooms have one place. */
export const byPlace = (a: RoomPlace, b: RoomPlace): number =>
  b.value - a.value || (a.room < b.room ? -1 : +(a.room > b.room));

/** @param pages each in this order, of the same query */
export function mergePages(pages: readonly RoomPage[], { sort, limit }: Pick<RoomQuery, "sort" | "limit">): RoomPage {
  const all = pages.flatMap(({ rooms }) => rooms).sort((a, b) => byPlace(placeOf(sort, a), placeOf(sort, b)));
  return { rooms: all.slice(0, limit), hasMore: all.length > limit || pages.some(({ hasMore }) => hasMore) };
}

/** The name of the lobby that a room reports to. With another number of lobbies every list begins empty. */
export function lobbyOf(room: string, lobbies: number): string {
  return lobbyName(hashOf(room) % lobbies, lobbies);
}

export const lobbyNames = (lobbies: number): string[] =>
  Array.from({ length: lobbies }, (_, index) => lobbyName(index, lobbies));

const lobbyName = (index: number, lobbies: number): string => `${index}-of-${lobbies}`;

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0;
  return hash;
}
