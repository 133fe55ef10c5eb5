// Members who went a moment ago and may be back before the others hear of it. Called by presence.ts; the connections that stay
// carry them through the room's sleep.
import { Carried } from "../room/carried.ts";
import type { Client, Room } from "../room/room.ts";
import { Slot } from "../room/slot.ts";

/** Who is back so soon has not left: long enough for a reload on a phone, or for a second try to reconnect (PRES-2). */
export const LEAVE_GRACE_MS = 5000;

/** The first of several leavers waits so much longer, for the others to be told of in the same wake. */
export const LEAVE_GATHER_MS = 1000;

/** Leavers that one connection's record carries: some 3 KiB of its 16 at the most. */
export const LEAVERS_CARRIED_MAX = 8;

/** Leavers that a room remembers: where more go at once, it is no reload but an outage, and the count tells it. */
export const LEAVERS_MAX = 200;

export interface Leaver {
  readonly user: string;
  readonly name: string;
  /** Since when they had been here, in milliseconds since 1970. */
  readonly sinceMs: number;
  /** When their last connection went, in milliseconds since 1970. */
  readonly goneAtMs: number;
}

export class Leavers {
  readonly #carried: Carried<Leaver>;

  constructor(room: Room) {
    this.#carried = new Carried(room, {
      slot: new Slot<readonly Leaver[]>("leavers"),
      keyOf: ({ user }) => user,
      perHolder: LEAVERS_CARRIED_MAX,
    });
  }

  /** When the room has to look again; `undefined` where nobody is missed. */
  get dueMs(): number | undefined {
    let firstMs: number | undefined;
    for (const { goneAtMs } of this.#carried.items()) firstMs = Math.min(firstMs ?? Infinity, goneAtMs);
    return firstMs === undefined ? undefined : firstMs + LEAVE_GRACE_MS + LEAVE_GATHER_MS;
  }

  /** @returns whether there was room for it */
  carry(leaver: Leaver): boolean {
    return this.#carried.size < LEAVERS_MAX && this.#carried.put(leaver.user, leaver);
  }

  /** A connection woke up with the leavers that it carries. */
  restore(client: Client): readonly Leaver[] {
    return this.#carried.restore(client);
  }

  /** The user is back, or the others know that they left. */
  forget(user: string): void {
    this.#carried.delete(user);
  }

  /** A connection went. @returns the leavers that no other connection can carry */
  release(client: Client): readonly Leaver[] {
    return this.#carried.release(client);
  }

  /** Takes out those whose time is over, in the order in which they went. */
  takeDue(nowMs: number): Leaver[] {
    const due = [...this.#carried.items()].filter(isOver(nowMs));
    for (const { user } of due) this.forget(user);
    return due.sort((a, b) => a.goneAtMs - b.goneAtMs || (a.user < b.user ? -1 : 1));
  }

  clear(): void {
    this.#carried.clear();
  }
}

const isOver =
  (nowMs: number) =>
  ({ goneAtMs }: Leaver): boolean =>
    goneAtMs + LEAVE_GRACE_MS <= nowMs;
