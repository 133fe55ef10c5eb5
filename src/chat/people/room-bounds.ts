// Keeps a user out of more rooms than MAX_ROOMS_PER_USER at a time, and from beginning more than NEW_ROOMS_PER_USER in an hour (LIM-8). All
// rooms of the isolate count together, and the lobby, which hears of each newcomer anyway, counts those of all isolates. So no connection
// waits for another object. Services are not bound. Made by parts.ts.
import { HOUR_MS, UserRooms, type RoomExcess } from "../../clock/user-rooms.ts";
import { hasPassed } from "../../clock/rates.ts";
import { RecentMap } from "../../clock/recent-map.ts";
import type { ErrorAnswer, Notice } from "../../protocol/chat-events.ts";
import { markOf } from "../../protocol/people-marks.ts";
import { deny, refuse } from "../../protocol/refuse.ts";
import type { PayerReport, RefusedPayers } from "../../protocol/room-list.ts";
import type { Refusal } from "../../socketio/server/namespace.ts";
import type { RoomPart } from "../room/room-part.ts";
import { UPLOAD, type EventRules, type Caller } from "../room/operation.ts";
import type { Client, Membership, Room } from "../room/room.ts";
import { payerOf } from "../room/guests.ts";

/** An entry counts for so long after the room was last awake. A room that sleeps longer costs nothing. */
export const LEASE_MS = 300_000;

/** From one renewal of all entries to the next. */
const RENEW_MS = 60_000;

/** How long a refusal of the lobby holds: its count may be another one by then. */
export const REFUSED_MS = 60_000;
const REFUSED_MAX = 1000;

/** Payers in a report: those who came last. */
const REPORTED_MAX = 20;

/** All rooms of an isolate share one. */
export const newUserRooms = (): UserRooms => new UserRooms(LEASE_MS);

const payerOfMember = (membership: Membership): string =>
  payerOf({ user: membership.user, client: { peek: () => membership } });

const isService = (client: Pick<Client, "peek">): boolean => client.peek().role === "service";

export class RoomBounds implements RoomPart {
  readonly #room: Room;
  readonly #userRooms: UserRooms;
  /** Who pays for each connection, by its id. A fresh token may name a guest, or one no longer, and changes nothing here. */
  readonly #payers = new Map<string, string>();
  /** Connections of each payer here. */
  readonly #connections = new Map<string, number>();
  /** By mark, until when, in milliseconds since 1970. */
  readonly #refused = new RecentMap<string, { readonly excess: RoomExcess; readonly untilMs: number }>(REFUSED_MAX);
  /** Whether the room was new when this object began to run. */
  #wasNew = false;
  #begun: { readonly by: string; readonly atMs: number } | undefined;
  #renewedAtMs = -Infinity;

  constructor(room: Room, userRooms: UserRooms) {
    this.#room = room;
    this.#userRooms = userRooms;
  }

  /** Those who were in the room before it died are not there any more. */
  start(): void {
    this.#userRooms.startOver(this.#room.name, this.#room.now());
  }

  admit(membership: Membership): Refusal | undefined {
    // Asked twice. In between the room may have made and stored the name of its log, after which nothing tells that it is new.
    this.#wasNew ||= this.#isNew();
    if (membership.role === "service") return undefined;
    const excess = this.#excessOf(payerOfMember(membership), this.#wasNew && this.#isEmpty(0));
    if (!excess) return undefined;
    const { retryAfterMs } = excess;
    return deny("TOO_MANY_CONNECTIONS", this.#textOf(excess), { retryAfterMs });
  }

  /** A member may upload over HTTP without a connection, a moderator do more: such a request begins a room, too. */
  refuse(event: EventRules, caller: Caller): ErrorAnswer | undefined {
    const { tokenRole, client } = caller;
    // Of a connection in a shard the room hears nothing else.
    if (client) {
      if (!this.#room.clients.has(client.id)) this.renew(client.peek());
      return undefined;
    }
    const isOwn = tokenRole === "moderator" || (event.name === UPLOAD && tokenRole !== "service");
    if (!isOwn || !this.#isNew()) return undefined;
    const payer = payerOf(caller);
    const excess = this.#excessOf(payer, true);
    if (excess) return refuse("RATE_LIMITED", `Rate limit exceeded: ${this.#textOf(excess)}`, excess.retryAfterMs);
    this.#begin(payer);
    return undefined;
  }

  onConnect(client: Client): void {
    const isBegun = this.#wasNew && this.#isEmpty(1);
    this.#wasNew = false;
    if (isService(client)) return;
    const payer = this.#enter(client);
    if (isBegun) this.#begin(payer);
  }

  onRestore(client: Client): void {
    if (!isService(client)) this.#enter(client);
  }

  #enter(client: Client): string {
    const payer = payerOfMember(client.peek());
    this.#payers.set(client.id, payer);
    this.#count(payer, 1);
    this.#userRooms.enter(payer, this.#room.name, this.#room.now());
    return payer;
  }

  onDisconnect(client: Client): void {
    const payer = this.#payers.get(client.id);
    this.#payers.delete(client.id);
    if (payer !== undefined && this.#count(payer, -1) === 0) this.#userRooms.leave(payer, this.#room.name);
  }

  onTurnEnd(): void {
    const nowMs = this.#room.now();
    if (this.#connections.size === 0 || !hasPassed(this.#renewedAtMs, RENEW_MS, nowMs)) return;
    this.#renewedAtMs = nowMs;
    // An entry that ended while the room slept may be one too many by now.
    for (const payer of this.#connections.keys()) {
      const excess = this.#userRooms.excessOfEntry(payer, this.#room.name, this.#room.settings, nowMs);
      if (excess) this.#sendAway(markOf(payer), excess);
      else this.#userRooms.enter(payer, this.#room.name, nowMs);
    }
  }

  /** A member is in a shard, or does something there. */
  renew(membership: Membership): void {
    this.#userRooms.enter(payerOfMember(membership), this.#room.name, this.#room.now());
  }

  /** For the report to the lobby. */
  get payers(): PayerReport {
    const { maxRoomsPerUser, newRoomsPerUser } = this.#room.settings;
    if (!maxRoomsPerUser && !newRoomsPerUser) return {};
    const newest = [...this.#connections.keys()].slice(-REPORTED_MAX);
    return {
      ...(newest.length > 0 && { payers: newest.map(markOf).join("") }),
      // The room may stay awake for longer, and would be begun again each hour.
      ...(this.#begun && !hasPassed(this.#begun.atMs, HOUR_MS, this.#room.now()) && { begunBy: this.#begun.by }),
    };
  }

  /** The lobby has counted too many rooms. */
  onRefused({ marks, setting, retryAfterMs }: RefusedPayers): void {
    for (const mark of marks) this.#sendAway(mark, { setting, retryAfterMs });
  }

  #sendAway(mark: string, excess: RoomExcess): void {
    const waitMs = Math.min(excess.retryAfterMs, REFUSED_MS);
    this.#refused.set(mark, { excess, untilMs: this.#room.now() + waitMs });
    const notice: Notice = {
      code: "TOO_MANY_CONNECTIONS",
      message: this.#textOf(excess),
      retryAfterMs: excess.retryAfterMs,
    };
    for (const client of this.#room.clients.values()) {
      const payer = this.#payers.get(client.id);
      if (payer === undefined || markOf(payer) !== mark) continue;
      client.emit("notice", notice);
      client.disconnect(true);
    }
  }

  #excessOf(payer: string, isNew: boolean): RoomExcess | undefined {
    const { name, settings, now } = this.#room;
    const nowMs = now();
    const refused = this.#refused.get(markOf(payer));
    if (refused && refused.untilMs > nowMs && refused.untilMs - nowMs <= REFUSED_MS) return refused.excess;
    return (
      this.#userRooms.excessOfEntry(payer, name, settings, nowMs) ??
      (isNew ? this.#userRooms.excessOfBeginning(payer, name, settings, nowMs) : undefined)
    );
  }

  /** Nobody is here, and nothing was stored. */
  #isNew(): boolean {
    if (!this.#isEmpty(0)) return false;
    const [stored] = this.#room.state.list({ prefix: "", limit: 1 });
    return stored === undefined;
  }

  /** @param connections those that do not count */
  #isEmpty(connections: number): boolean {
    const { connectionCount, seenSeq } = this.#room;
    return connectionCount <= connections && seenSeq() === 0;
  }

  #begin(payer: string): void {
    const atMs = this.#room.now();
    this.#userRooms.begin(payer, this.#room.name, atMs);
    this.#begun = { by: markOf(payer), atMs };
  }

  #textOf({ setting }: Pick<RoomExcess, "setting">): string {
    const { maxRoomsPerUser, newRoomsPerUser } = this.#room.settings;
    return setting === "MAX_ROOMS_PER_USER"
      ? `You are in ${maxRoomsPerUser} rooms, the most at a time (${setting}). Leave one first.`
      : `You have begun ${newRoomsPerUser} rooms, the most in an hour (${setting}). Wait a little.`;
  }

  #count(payer: string, by: number): number {
    const count = (this.#connections.get(payer) ?? 0) + by;
    if (count > 0) this.#connections.set(payer, count);
    else this.#connections.delete(payer);
    return count;
  }
}
