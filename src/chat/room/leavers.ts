// Those who went a moment ago and may be back before anybody is told. They outlive the room's sleep in the
// records of connections that stay, which costs no row; where nobody stays, there is nobody to tell.
import type { Client, Room } from "./room.ts";

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

interface Carried {
  readonly leaver: Leaver;
  readonly carrier: Client;
}

export class Leavers {
  readonly #room: Room;
  readonly #carried = new Map<string, Carried>();

  constructor(room: Room) {
    this.#room = room;
  }

  /** When the room has to look again; `undefined` where nobody is missed. */
  get dueMs(): number | undefined {
    let firstMs: number | undefined;
    for (const { leaver } of this.#carried.values()) firstMs = Math.min(firstMs ?? Infinity, leaver.goneAtMs);
    return firstMs === undefined ? undefined : firstMs + LEAVE_GRACE_MS + LEAVE_GATHER_MS;
  }

  /** @returns whether there was room for it */
  carry(leaver: Leaver): boolean {
    const carrier = this.#carried.size < LEAVERS_MAX ? this.#carrier() : undefined;
    if (!carrier) return false;
    carrier.data = { ...carrier.data, leavers: [...(carrier.peek().leavers ?? []), leaver] };
    this.#carried.set(leaver.user, { leaver, carrier });
    return true;
  }

  #carrier(): Client | undefined {
    for (const client of this.#room.clients.values()) {
      if ((client.peek().leavers?.length ?? 0) < LEAVERS_CARRIED_MAX) return client;
    }
    return undefined;
  }

  /** A connection woke up with what it carries. */
  restore(carrier: Client): readonly Leaver[] {
    const { leavers = [] } = carrier.peek();
    for (const leaver of leavers) this.#carried.set(leaver.user, { leaver, carrier });
    return leavers;
  }

  /** The user is back, or was told to have left. */
  forget(user: string): void {
    const carried = this.#carried.get(user);
    if (!carried) return;
    this.#carried.delete(user);
    const { leavers: before = [], ...rest } = carried.carrier.peek();
    const leavers = before.filter((leaver) => leaver.user !== user);
    carried.carrier.data = leavers.length > 0 ? { ...rest, leavers } : rest;
  }

  /** A connection went: what it carried needs another carrier. */
  release(carrier: Client): readonly Leaver[] {
    const { leavers = [] } = carrier.peek();
    for (const { user } of leavers) this.#carried.delete(user);
    return leavers;
  }

  /** Takes out those whose time is over, in the order in which they went. */
  takeDue(nowMs: number): Leaver[] {
    const due = [...this.#carried.values()].map(({ leaver }) => leaver).filter(isOver(nowMs));
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
