// Keeps users out of a room: banned ones, whom it disconnects, as it does kicked ones (MOD-3, MOD-4), and whose connections cannot be recovered
// (MOD-5). Made by parts.ts; its hooks run for each connection and before each request, and moderation.ts calls it.
import type { ErrorAnswer, Notice } from "../../protocol/chat-events.ts";
import { rankOfToken, ROLES, type Rank } from "../../protocol/roles.ts";
import type { Refusal } from "../../socketio/server/namespace.ts";
import { deny, refuse } from "../../protocol/refuse.ts";
import type { EventRules, Caller } from "../room/operation.ts";
import type { RoomPart } from "../room/room-part.ts";
import type { Connection, Membership, Room } from "../room/room.ts";
import type { Sanction } from "../room/sanctions.ts";
import type { UserRecords } from "./user-records.ts";

export class Bans implements RoomPart {
  readonly #room: Room;
  readonly #records: UserRecords;
  readonly #endStay: (user: string) => void;

  /** @param endStay called where a user may have no connection left: they have left at once, and not after a grace period */
  constructor(room: Room, records: UserRecords, endStay: (user: string) => void) {
    this.#room = room;
    this.#records = records;
    this.#endStay = endStay;
  }

  admit({ user, role }: Pick<Membership, "user" | "role">): Refusal | undefined {
    const ban = this.#records.banOf({ user, tokenRole: role });
    return ban && deny("BANNED", bannedText(ban), this.#endOf(ban));
  }

  refuse(_event: EventRules, caller: Caller): ErrorAnswer | undefined {
    return this.refuseBanned(caller);
  }

  refuseBanned({ user, tokenRole, client }: Caller): ErrorAnswer | undefined {
    const ban = this.#records.banOf({ user, tokenRole });
    if (!ban) return undefined;
    // After a refresh, a token of a lower rank may be bound by a ban that did not bind the one before.
    if (client) disconnect(client, this.#bannedNotice(ban));
    this.#endStay(user);
    return refuse("FORBIDDEN", bannedText(ban), this.#endOf(ban).retryAfterMs);
  }

  /** Identifies the owner of a connection, for recovery: one from before the last kick or ban has no owner any more (MOD-5). */
  ownerOf(user: string): string {
    return JSON.stringify([user, this.#records.removedAtMs(user)]);
  }

  /** Disconnects a user where a ban binds them (MOD-3). */
  enforce(user: string): void {
    for (const client of this.#room.clientsOf(user)) {
      const ban = this.#records.banOf({ user, tokenRole: client.peek().role });
      if (ban) disconnect(client, this.#bannedNotice(ban));
    }
    for (const tokenRole of this.#room.remote ? ROLES : []) {
      const ban = this.#records.banOf({ user, tokenRole });
      if (ban) this.#room.remote?.dismiss(user, this.#bannedNotice(ban), [tokenRole]);
    }
    // Also where they went a moment ago and are still counted.
    if (this.#records.banOf({ user, tokenRole: "member" })) this.#endStay(user);
  }

  /** Disconnects a user (MOD-4). @param rank of the caller; connections of a higher token in shards stay */
  kick(user: string, reason: string | undefined, rank: Rank): void {
    const message = withReason("You were kicked from this room", reason);
    const notice: Notice = { code: "KICKED", message };
    for (const client of this.#room.clientsOf(user)) disconnect(client, notice);
    const below = ROLES.filter((role) => rankOfToken(role) < rank);
    this.#room.remote?.dismiss(user, notice, below);
    this.#endStay(user);
  }

  #endOf({ untilMs }: Sanction): { until?: number; retryAfterMs?: number } {
    return untilMs === undefined ? {} : { until: untilMs, retryAfterMs: untilMs - this.#room.now() };
  }

  #bannedNotice(ban: Sanction): Notice {
    const { retryAfterMs } = this.#endOf(ban);
    return { code: "BANNED", message: bannedText(ban), ...(retryAfterMs !== undefined && { retryAfterMs }) };
  }
}

/** The notice comes first, so that a stock client stays away (MOD-3, MOD-4). */
export function disconnect(client: Pick<Connection, "emit" | "disconnect">, notice: Notice): void {
  client.emit("notice", notice);
  client.disconnect(true);
}

function bannedText({ reason }: Sanction): string {
  return withReason("You are banned from this room", reason);
}

function withReason(text: string, reason: string | undefined): string {
  return reason === undefined ? `${text}.` : `${text}: ${reason}`;
}
