// Users whose last connection closed a moment ago: a user who reconnects within the grace period has not left for the others
// (PRES-2). Called by presence.ts. Connections of other users hold the list, so it outlives the room's sleep.
import { Carried } from "../room/carried.ts";
import type { Client, Room } from "../room/room.ts";
import { Slot } from "../room/slot.ts";

/** Long enough for a reload on a phone, or for a second try to reconnect. */
export const LEAVE_GRACE_MS = 5000;

/** The first of several users waits so much longer, so that one wake ends all their stays. */
export const LEAVE_GATHER_MS = 1000;

/** Users that one connection holds: some 3 KiB of its 16 at the most. */
const HELD_PER_CONNECTION_MAX = 8;

/** Users remembered at a time. Where more go at once, that is an outage and no reload, and they leave at once. */
const USERS_MAX = 200;

export interface LeftUser {
  readonly user: string;
  readonly name: string;
  /** Since when the user had been a member, in milliseconds since 1970. */
  readonly sinceMs: number;
  /** When the last connection closed, in milliseconds since 1970. */
  readonly goneAtMs: number;
}

export class RecentlyLeft {
  readonly #carried: Carried<LeftUser>;

  constructor(room: Room) {
    this.#carried = new Carried(room, {
      slot: new Slot<readonly LeftUser[]>("leavers"),
      keyOf: ({ user }) => user,
      perHolder: HELD_PER_CONNECTION_MAX,
    });
  }

  /** When the next stay ends; `undefined` where no stay is about to end. */
  get dueMs(): number | undefined {
    let firstMs: number | undefined;
    for (const { goneAtMs } of this.#carried.items()) firstMs = Math.min(firstMs ?? Infinity, goneAtMs);
    return firstMs === undefined ? undefined : firstMs + LEAVE_GRACE_MS + LEAVE_GATHER_MS;
  }

  /** @returns whether a connection had space for it */
  add(left: LeftUser): boolean {
    return this.#carried.size < USERS_MAX && this.#carried.put(left.user, left);
  }

  /** Takes over what a connection held while the room slept. */
  restore(client: Client): readonly LeftUser[] {
    return this.#carried.restore(client);
  }

  delete(user: string): void {
    this.#carried.delete(user);
  }

  /** A connection closed. @returns users of its list for whom no other connection has space */
  release(client: Client): readonly LeftUser[] {
    return this.#carried.release(client);
  }

  /** Removes users whose grace period is over, and returns them in the order in which they went. */
  takeDue(nowMs: number): LeftUser[] {
    const due = [...this.#carried.items()].filter(isOver(nowMs));
    for (const { user } of due) this.delete(user);
    return due.sort((a, b) => a.goneAtMs - b.goneAtMs || (a.user < b.user ? -1 : 1));
  }

  clear(): void {
    this.#carried.clear();
  }
}

const isOver =
  (nowMs: number) =>
  ({ goneAtMs }: LeftUser): boolean =>
    goneAtMs + LEAVE_GRACE_MS <= nowMs;
