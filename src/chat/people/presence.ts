// Who is here, and telling the others when that changes. A reload is no leave: PRES-2.
import type { Member, PresenceAnswer, Welcome } from "../../protocol/chat-events.ts";
import type { Deadline } from "../../clock/deadlines.ts";
import { Leavers, type Leaver } from "./leavers.ts";
import type { Members } from "../room/members.ts";
import { operation } from "../room/operation.ts";
import { ThrottledRun } from "../../clock/throttle.ts";
import { presenceSchema } from "../../protocol/schemas/payloads.ts";
import type { Client, Feature, Room } from "../room/room.ts";
import { ROLES } from "../room/roles.ts";
import { Slot } from "../room/slot.ts";

/** Changes of presence are told at once in a quiet room, and at most this often in a busy one (PRES-1). */
export const PRESENCE_WINDOW_MS = 250;

/** In a large room every change goes out to many, and is only a number (PRES-3). */
export const PRESENCE_WINDOW_LARGE_MS = 1000;

/** Looking for somebody takes as much of the caller's requests as a page of history does (CHAT-6). */
const FIND_COST = 5;

/** Since when the user is a member, where that is longer than the connection; in milliseconds since 1970. */
const MEMBER_SINCE_MS = new Slot<number>("memberSinceMs");

export class Presence implements Feature {
  readonly #room: Room;
  readonly #members: Members;
  readonly #leavers: Leavers;
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
    this.#leavers = new Leavers(room);
  }

  start(): void {
    const { deadline } = this.#room;
    this.#windowDeadline = deadline("presence", (nowMs) => this.#throttle.flush(nowMs));
    this.#graceDeadline = deadline("presence-grace", (nowMs) => this.#endStays(nowMs));
    this.#smallThrottle = new ThrottledRun(PRESENCE_WINDOW_MS, this.#windowDeadline, () => this.#tell());
    this.#largeThrottle = new ThrottledRun(PRESENCE_WINDOW_LARGE_MS, this.#windowDeadline, () => this.#tell());
  }

  get #throttle(): ThrottledRun {
    return this.#members.isLarge ? this.#largeThrottle : this.#smallThrottle;
  }

  onConnect(client: Client): void {
    const { user, name, sinceMs } = client.peek();
    const memberSinceMs = this.#members.add(user, { socketId: client.id, name, sinceMs });
    if (memberSinceMs !== sinceMs) MEMBER_SINCE_MS.set(client, memberSinceMs);
    this.#leavers.forget(user);
    this.#waitForLeavers();
  }

  welcome(): Partial<Welcome> {
    return { presence: { count: this.#members.count } };
  }

  onWelcomed(): void {
    if (this.#members.hasChanged) this.#throttle.request(this.#room.now());
  }

  /** PRES-4. A crash leaves no connection to restore, so nobody is there after it: PRES-5. */
  onRestore(client: Client): void {
    const { user, name, sinceMs } = client.peek();
    this.#members.note(user, { socketId: client.id, name, sinceMs }, MEMBER_SINCE_MS.get(client));
    for (const leaver of this.#leavers.restore(client)) this.#members.noteAbsent(leaver.user, leaver);
    this.#waitForLeavers();
  }

  onDisconnect(client: Client): void {
    const { user } = client.peek();
    const dropped = [...this.#leavers.release(client)];
    const gone = this.#members.remove(user, client.id);
    if (this.#room.clients.size === 0) return this.#rest();
    const leaver = gone && { user, ...gone, goneAtMs: this.#room.now() };
    // Not at once: who comes back in time, or over another connection, has not left for the others.
    if (leaver && !this.#leavers.carry(leaver)) dropped.push(leaver);
    if (dropped.length > 0) this.#endUncarried(dropped);
    this.#waitForLeavers();
  }

  /** A user was kicked or banned: without another connection they have left, at once (PRES-2). */
  endStay(user: string): void {
    if (!this.#members.has(user) || this.#members.socketsOf(user).length > 0) return;
    this.#leavers.forget(user);
    this.#members.end(user);
    this.#waitForLeavers();
    this.#throttle.request(this.#room.now());
  }

  /** More went than those who stay can carry. */
  #endUncarried(leavers: readonly Leaver[]): void {
    for (const { user } of leavers) this.#members.end(user);
    this.#throttle.requestLater(this.#room.now());
  }

  #waitForLeavers(): void {
    const { dueMs } = this.#leavers;
    if (dueMs === undefined) this.#graceDeadline.clear();
    else this.#graceDeadline.set(dueMs);
  }

  #endStays(nowMs: number): void {
    for (const { user } of this.#leavers.takeDue(nowMs)) this.#members.end(user);
    this.#waitForLeavers();
    if (this.#members.hasChanged) this.#throttle.request(nowMs);
  }

  #tell(): void {
    const change = this.#members.takeChange();
    if (!change) return;
    const joined = change.joined.map((member) => ({ ...member, ...this.#roleOf(member.user) }));
    this.#room.everyone.emit("presence", { ...change, joined });
  }

  /** PRES-7: of several connections of one user, the one that may do most counts. Nothing of a plain member. */
  #roleOf(user: string): Pick<Member, "role" | "granted"> {
    const sockets = this.#members.socketsOf(user);
    const tokenRoles = sockets.map((id) => this.#room.clients.get(id)?.peek().role ?? "member");
    // Somebody who went a moment ago is listed, too.
    const roles = new Set(
      tokenRoles
        .concat(sockets.length > 0 ? [] : "member")
        .map((tokenRole) => this.#room.sanctions.roleOf({ user, tokenRole })),
    );
    const role = ROLES.findLast((one) => roles.has(one)) ?? "member";
    if (role === "member") return {};
    return { role, ...(!tokenRoles.includes(role) && { granted: true as const }) };
  }

  /** The room is empty. */
  #rest(): void {
    this.#members.clear();
    this.#leavers.clear();
    this.#windowDeadline.clear();
    this.#graceDeadline.clear();
  }
}
