// Counts the rooms that a user is in, and those that the user began within an hour (LIM-8). Each entry has an end, so that a room that
// crashed does not count for ever. Used by the rooms of an isolate together (chat/people/room-bounds.ts), and by a lobby (features/directory/lobby.ts).
import { RecentMap } from "./recent-map.ts";

/** 0: there is no limit. */
export interface RoomBounds {
  readonly maxRoomsPerUser: number;
  readonly newRoomsPerUser: number;
}

/** The bound that keeps a user out of one more room. */
export interface RoomExcess {
  readonly setting: "MAX_ROOMS_PER_USER" | "NEW_ROOMS_PER_USER";
  readonly retryAfterMs: number;
}

/** A room counts as begun for so long. */
export const HOUR_MS = 3_600_000;

/** A room that a user has left, on any device, frees its place: that cannot be foreseen, so a client asks again after this. */
const LEFT_MS = 30_000;

/** Rooms whose start is remembered. */
const STARTED_MAX = 10_000;

/** Users counted at a time; one more takes the place of the user who entered or began a room longest ago. */
const USERS_MAX = 100_000;

export class UserRooms {
  readonly #leaseMs: number;
  /** By user and room, when the entry was last renewed, in milliseconds since 1970. */
  readonly #entered = new RecentMap<string, Map<string, number>>(USERS_MAX);
  /** By user and room, when the user began it. */
  readonly #begun = new RecentMap<string, Map<string, number>>(USERS_MAX);

  /** By room, when it started last, in milliseconds since 1970. */
  readonly #startedAtMs = new RecentMap<string, number>(STARTED_MAX);

  /** @param leaseMs how long an entry counts without a renewal */
  constructor(leaseMs: number) {
    this.#leaseMs = leaseMs;
  }

  /** @returns the bound that keeps the user out of the room; a room that counts for the user already is never one too many */
  excessOfEntry(
    user: string,
    room: string,
    { maxRoomsPerUser: max }: RoomBounds,
    nowMs: number,
  ): RoomExcess | undefined {
    if (max === 0) return undefined;
    const rooms = livingOf(this.#entered, user, this.#leaseMs, nowMs);
    for (const [entered, atMs] of rooms ?? [])
      if (atMs < (this.#startedAtMs.get(entered) ?? -Infinity)) rooms!.delete(entered);
    if (!rooms || rooms.has(room) || rooms.size < max) return undefined;
    return { setting: "MAX_ROOMS_PER_USER", retryAfterMs: LEFT_MS };
  }

  /** The same for a room that does not exist yet. */
  excessOfBeginning(
    user: string,
    room: string,
    { newRoomsPerUser: max }: RoomBounds,
    nowMs: number,
  ): RoomExcess | undefined {
    const rooms = max > 0 && livingOf(this.#begun, user, HOUR_MS, nowMs);
    if (!rooms || rooms.has(room) || rooms.size < max) return undefined;
    // In the order in which they were begun: so many have to become an hour old.
    const freeing = [...rooms.values()][rooms.size - max]!;
    return { setting: "NEW_ROOMS_PER_USER", retryAfterMs: freeing + HOUR_MS - nowMs };
  }

  /** A room starts, after sleep or a crash: entries of before count no more. */
  startOver(room: string, nowMs: number): void {
    this.#startedAtMs.set(room, nowMs);
  }

  /** Enters a room, or renews the entry. */
  enter(user: string, room: string, nowMs: number): void {
    note(this.#entered, user, room, nowMs);
  }

  leave(user: string, room: string): void {
    const rooms = this.#entered.get(user);
    if (rooms?.delete(room) && rooms.size === 0) this.#entered.delete(user);
  }

  begin(user: string, room: string, nowMs: number): void {
    if (!this.#begun.get(user)?.has(room)) note(this.#begun, user, room, nowMs);
  }
}

type Noted = RecentMap<string, Map<string, number>>;

function note(noted: Noted, user: string, room: string, nowMs: number): void {
  const rooms = noted.get(user) ?? new Map<string, number>();
  noted.set(user, rooms.set(room, nowMs));
}

/** Forgets the entries whose time is over. A clock that was set back ends them, so that nobody is kept out for hours. */
function livingOf(noted: Noted, user: string, ms: number, nowMs: number): Map<string, number> | undefined {
  const rooms = noted.get(user);
  for (const [room, atMs] of rooms ?? []) if (nowMs - atMs >= ms || nowMs < atMs) rooms!.delete(room);
  return rooms;
}
