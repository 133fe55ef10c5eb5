// Presence: lists the members of a room and notifies everyone when it changes (PRES-1). A reload changes nothing: a user without
// connections stays a member for a grace period (PRES-2).
import { presenceSchema } from "../../protocol/schemas/presence.ts";
import type { Member, PresenceAnswer, Welcome } from "../../protocol/chat-events.ts";
import type { Deadline } from "../../clock/deadlines.ts";
import { RecentlyLeft, type LeftUser } from "./recently-left.ts";
import type { Members } from "../room/members.ts";
import { operation } from "../room/operation.ts";
import { ThrottledRun } from "../../clock/throttle.ts";
import type { Feature } from "../room/feature.ts";
import type { Client, Room } from "../room/room.ts";
import { ROLES } from "../room/roles.ts";
import { Slot } from "../room/slot.ts";

/** A quiet room sends a change at once, a busy one at most this often (PRES-1). */
export const PRESENCE_WINDOW_MS = 250;

/** In a large room a change goes out to many, and is only a number (PRES-3). */
export const PRESENCE_WINDOW_LARGE_MS = 1000;

/** Searching the members takes as much of the caller's requests as a page of history does (CHAT-6). */
const FIND_COST = 5;

/** Since when the user is a member, where that is longer than the connection; in milliseconds since 1970. */
const MEMBER_SINCE_MS = new Slot<number>("memberSinceMs");

export class Presence implements Feature {
  readonly #room: Room;
  readonly #members: Members;
  readonly #recentlyLeft: RecentlyLeft;
  #smallThrottle!: ThrottledRun;
  #largeThrottle!: ThrottledRun;
  #windowDeadline!: Deadline;
  #graceDeadline!: Deadline;
  readonly operations = {
    presence: operation(
      presenceSchema,
      (_caller, { find }, reply: (answer: PresenceAnswer) => void) => {
        const members = this.#members.list(find).map((member) => ({ ...member, ...this.#roleOf(member.user) }));
        reply({ ok: true, count: this.#members.count, members });
      },
      ({ find }) => (find === undefined ? 1 : FIND_COST),
    ),
  };

  constructor(room: Room, members: Members) {
    this.#room = room;
    this.#members = members;
    this.#recentlyLeft = new RecentlyLeft(room);
  }

  start(): void {
    const { deadline } = this.#room;
    this.#windowDeadline = deadline("presence", (nowMs) => this.#throttle.flush(nowMs));
    this.#graceDeadline = deadline("presence-grace", (nowMs) => this.#endStays(nowMs));
    this.#smallThrottle = new ThrottledRun(PRESENCE_WINDOW_MS, this.#windowDeadline, () => this.#notify());
    this.#largeThrottle = new ThrottledRun(PRESENCE_WINDOW_LARGE_MS, this.#windowDeadline, () => this.#notify());
  }

  get #throttle(): ThrottledRun {
    return this.#members.isLarge ? this.#largeThrottle : this.#smallThrottle;
  }

  onConnect(client: Client): void {
    const { user, name, sinceMs } = client.peek();
    const memberSinceMs = this.#members.add(user, { socketId: client.id, name, sinceMs });
    if (memberSinceMs !== sinceMs) MEMBER_SINCE_MS.set(client, memberSinceMs);
    this.#recentlyLeft.delete(user);
    this.#setGraceDeadline();
  }

  welcome(): Partial<Welcome> {
    return { presence: { count: this.#members.count } };
  }

  onWelcomed(): void {
    if (this.#members.hasChanged) this.#throttle.request(this.#room.now());
  }

  /** PRES-4. A crash leaves no connection to restore, so the room is empty after it: PRES-5. */
  onRestore(client: Client): void {
    const { user, name, sinceMs } = client.peek();
    this.#members.note(user, { socketId: client.id, name, sinceMs }, MEMBER_SINCE_MS.get(client));
    for (const left of this.#recentlyLeft.restore(client)) this.#members.noteAbsent(left.user, left);
    this.#setGraceDeadline();
  }

  onDisconnect(client: Client): void {
    const { user } = client.peek();
    const dropped = [...this.#recentlyLeft.release(client)];
    const gone = this.#members.remove(user, client.id);
    if (this.#room.clients.size === 0) return this.#rest();
    const left = gone && { user, ...gone, goneAtMs: this.#room.now() };
    if (left && !this.#recentlyLeft.add(left)) dropped.push(left);
    if (dropped.length > 0) this.#endDropped(dropped);
    this.#setGraceDeadline();
  }

  /** A user was kicked or banned: without another connection they have left, at once (PRES-2). */
  endStay(user: string): void {
    if (!this.#members.has(user) || this.#members.socketsOf(user).length > 0) return;
    this.#recentlyLeft.delete(user);
    this.#members.end(user);
    this.#setGraceDeadline();
    this.#throttle.request(this.#room.now());
  }

  /** More users went than the connections that stay can hold. */
  #endDropped(dropped: readonly LeftUser[]): void {
    for (const { user } of dropped) this.#members.end(user);
    this.#throttle.requestLater(this.#room.now());
  }

  #setGraceDeadline(): void {
    const { dueMs } = this.#recentlyLeft;
    if (dueMs === undefined) this.#graceDeadline.clear();
    else this.#graceDeadline.set(dueMs);
  }

  #endStays(nowMs: number): void {
    for (const { user } of this.#recentlyLeft.takeDue(nowMs)) this.#members.end(user);
    this.#setGraceDeadline();
    if (this.#members.hasChanged) this.#throttle.request(nowMs);
  }

  #notify(): void {
    const change = this.#members.takeChange();
    if (!change) return;
    const joined = change.joined.map((member) => ({ ...member, ...this.#roleOf(member.user) }));
    this.#room.everyone.emit("presence", { ...change, joined });
  }

  /** PRES-7: of several connections of one user, the role that may do most counts. None for a plain member. */
  #roleOf(user: string): Pick<Member, "role" | "granted"> {
    const sockets = this.#members.socketsOf(user);
    const tokenRoles = sockets.map((id) => this.#room.clients.get(id)?.peek().role ?? "member");
    // The list has users who went a moment ago, too.
    if (tokenRoles.length === 0) tokenRoles.push("member");
    const roles = new Set(tokenRoles.map((tokenRole) => this.#room.sanctions.roleOf({ user, tokenRole })));
    const role = ROLES.findLast((one) => roles.has(one)) ?? "member";
    if (role === "member") return {};
    return { role, ...(!tokenRoles.includes(role) && { granted: true as const }) };
  }

  /** The room is empty. */
  #rest(): void {
    this.#members.clear();
    this.#recentlyLeft.clear();
    this.#windowDeadline.clear();
    this.#graceDeadline.clear();
  }
}
