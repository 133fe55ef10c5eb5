// Presence: lists the members of a room and notifies everyone when the list changes (PRES-1). A reload changes nothing: an
// absent user, one whose connections are all closed, stays a member for a grace period and has left after it (PRES-2). parts.ts
// creates it.
import { PRESENCE } from "../../protocol/events/people.ts";
import type { Member, Welcome } from "../../protocol/chat-events.ts";
import { ROLES } from "../../protocol/roles.ts";
import type { Deadline } from "../../clock/deadlines.ts";
import { Carried } from "../room/carried.ts";
import { handler } from "../room/operation.ts";
import type { ThrottledRun } from "../../clock/rates.ts";
import { type RoomPart, Slot } from "../room/room-part.ts";
import type { Client, Room } from "../room/room.ts";

/**
 * A quiet room sends a change at once. While members keep coming and going, the room gathers changes for a window that grows with
 * the connections, so that up to a hundred of them get 20 frames of presence a second together (PRES-1).
 */
const WINDOW_MS_PER_CONNECTION = 50;
const WINDOW_MS = { min: 250, max: 5000 };
export const presenceWindowMs = (connections: number): number =>
  Math.min(Math.max(WINDOW_MS.min, connections * WINDOW_MS_PER_CONNECTION), WINDOW_MS.max);

/** An absent user who comes back within it has not left (PRES-2): a reload on a phone, or a second try to reconnect. */
export const LEAVE_GRACE_MS = 5000;

/** The first of several users who leave is reported so much later, so that one wake reports them all. */
export const LEAVE_GATHER_MS = 1000;

/** Absent users that one connection remembers: some 3 KiB of its 16 at the most. */
const ABSENT_PER_CONNECTION_MAX = 8;

/** If more users than this disappear together, it is an outage and not a reload; the further ones get no grace period. */
const ABSENT_MAX = 200;

/** A user whose last connection closed less than a grace period ago. */
interface AbsentUser {
  readonly user: string;
  readonly name: string;
  /** When the user became a member, in milliseconds since 1970. */
  readonly sinceMs: number;
  /** When the last connection closed, in milliseconds since 1970. */
  readonly absentSinceMs: number;
}

/** When the user became a member, if that was before this connection. Milliseconds since 1970. */
const MEMBER_SINCE_MS = new Slot<number>("memberSinceMs");

export class Presence implements RoomPart {
  readonly #room: Room;
  /** Connections of other users remember them, so that they outlive the room's sleep. */
  readonly #absent: Carried<AbsentUser>;
  #throttle!: ThrottledRun;
  #graceDeadline!: Deadline;
  readonly operations = [
    handler(PRESENCE, (_caller, { find }) => {
      const members = this.#room.members.list(find).map((member) => ({ ...member, ...this.#roleOf(member.user) }));
      return { ok: true, count: this.#room.members.count, members };
    }),
  ];

  constructor(room: Room) {
    this.#room = room;
    this.#absent = new Carried(room, {
      slot: new Slot<readonly AbsentUser[]>("absent"),
      keyOf: ({ user }) => user,
      perHolder: ABSENT_PER_CONNECTION_MAX,
    });
  }

  start(): void {
    const { deadline, throttled } = this.#room;
    const windowMs = (): number => presenceWindowMs(this.#room.connectionCount);
    this.#throttle = throttled("presence", { windowMs }, () => this.#notify());
    this.#room.members.watch(() => {
      if (this.#room.members.hasMoved) this.#throttle.request(this.#room.now());
    });
    this.#graceDeadline = deadline("presence-grace", (nowMs) => this.#endGrace(nowMs));
  }

  onConnect(client: Client): void {
    const { user, name, sinceMs } = client.peek();
    const memberSinceMs = this.#room.members.add(user, { socketId: client.id, name, sinceMs });
    if (memberSinceMs !== sinceMs) MEMBER_SINCE_MS.set(client, memberSinceMs);
    this.#absent.delete(user);
    this.#setGraceDeadline();
  }

  welcome(): Pick<Welcome, "presence"> {
    return { presence: { count: this.#room.members.count } };
  }

  onWelcomed(): void {
    if (this.#room.members.hasChanged) this.#throttle.request(this.#room.now());
  }

  /** PRES-4. A crash leaves no connection to restore, so the room is empty after it: PRES-5. */
  onRestore(client: Client): void {
    const { user, name, sinceMs } = client.peek();
    this.#room.members.note(user, { socketId: client.id, name, sinceMs }, MEMBER_SINCE_MS.get(client));
    for (const absent of this.#absent.restore(client)) this.#room.members.noteAbsent(absent.user, absent);
    this.#setGraceDeadline();
  }

  onDisconnect(client: Client): void {
    const { members, clients } = this.#room;
    const { user } = client.peek();
    const nowMs = this.#room.now();
    const withoutGrace = [...this.#absent.release(client)];
    const remembered = members.remove(user, client.id);
    if (clients.size === 0 && !this.#room.remote?.connections) {
      members.clear();
      this.#absent.clear();
      this.#throttle.cancel();
      this.#graceDeadline.clear();
      return;
    }
    if (remembered) {
      const absent = { user, ...remembered, absentSinceMs: nowMs };
      const hasGrace = this.#absent.size < ABSENT_MAX && this.#absent.put(user, absent);
      if (!hasGrace) withoutGrace.push(absent);
    }
    for (const absent of withoutGrace) members.end(absent.user);
    if (withoutGrace.length > 0) this.#throttle.requestLater(nowMs);
    this.#setGraceDeadline();
  }

  /** No connection is left, here or in shards, to which the room could send changes. */
  onErase(): undefined {
    this.#room.members.clear();
  }

  /** A user was kicked or banned: without another connection they have left, at once (PRES-2). */
  endStay(user: string): void {
    if (!this.#room.members.has(user) || this.#room.members.socketsOf(user).length > 0) return;
    this.#absent.delete(user);
    this.#room.members.end(user);
    this.#setGraceDeadline();
    this.#throttle.request(this.#room.now());
  }

  #setGraceDeadline(): void {
    const sinceMs = Array.from(this.#absent.items(), ({ absentSinceMs }) => absentSinceMs);
    if (sinceMs.length === 0) this.#graceDeadline.clear();
    else this.#graceDeadline.set(Math.min(...sinceMs) + LEAVE_GRACE_MS + LEAVE_GATHER_MS);
  }

  #endGrace(nowMs: number): void {
    const over = [...this.#absent.items()]
      .filter(({ absentSinceMs }) => absentSinceMs + LEAVE_GRACE_MS <= nowMs)
      .sort((a, b) => a.absentSinceMs - b.absentSinceMs || (a.user < b.user ? -1 : 1));
    for (const { user } of over) {
      this.#absent.delete(user);
      this.#room.members.end(user);
    }
    this.#setGraceDeadline();
    if (this.#room.members.hasChanged) this.#throttle.request(nowMs);
  }

  #notify(): void {
    const change = this.#room.members.takeChange();
    if (!change) return;
    const joined = change.joined.map((member) => ({ ...member, ...this.#roleOf(member.user) }));
    this.#room.everyone.emit("presence", { ...change, joined });
  }

  /** PRES-7: of several connections of one user, the role that may do most counts. None for a plain member. */
  #roleOf(user: string): Pick<Member, "role" | "granted"> {
    const sockets = this.#room.members.socketsOf(user);
    const tokenRoles = sockets.map((id) => this.#room.clients.get(id)?.peek().role ?? "member");
    // A user in the grace period has no connection.
    if (tokenRoles.length === 0) tokenRoles.push("member");
    const roles = new Set(tokenRoles.map((tokenRole) => this.#room.sanctions.roleOf({ user, tokenRole })));
    const role = ROLES.find((one) => roles.has(one)) ?? "member";
    if (role === "member") return {};
    return { role, ...(!tokenRoles.includes(role) && { granted: true as const }) };
  }
}
