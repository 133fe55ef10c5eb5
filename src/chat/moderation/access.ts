// Access to a room: `DirectAccess` keeps a room between two people to them, `Bans` refuses banned users, and `Flooding` pauses users who flood
// the room. parts.ts makes them, and chat.ts and requests.ts call their hooks. moderation.ts calls `Bans`, and src/features/direct-messages
// `DirectAccess`.
import { Window } from "../../clock/rates.ts";
import type { Answer, ErrorAnswer, Notice, Role } from "../../protocol/chat-events.ts";
import { isDirectRoom } from "../../protocol/direct-name.ts";
import type { DirectUsers } from "../../protocol/direct-room.ts";
import { deny, refuse } from "../../protocol/refuse.ts";
import { rankOfToken, ROLES, type Rank } from "../../protocol/roles.ts";
import type { Refusal } from "../../socketio/server/namespace.ts";
import type { Caller, EventRules } from "../room/operation.ts";
import type { RoomPart } from "../room/room-part.ts";
import type { Connection, Membership, Room } from "../room/room.ts";
import type { Sanction } from "../room/sanctions.ts";
import type { UserRecords } from "./user-records.ts";

const DIRECT_KEY = "direct";

/**
 * Keeps a room between two people to its two users (DM-2). A part of every room, so that conversations stay closed to others in a deployment
 * that leaves out direct messages.
 */
export class DirectAccess implements RoomPart {
  readonly #state: Room["state"];
  readonly isDirect: boolean;
  #users: DirectUsers | undefined;

  constructor({ name, state }: Pick<Room, "name" | "state">) {
    this.#state = state;
    this.isDirect = isDirectRoom(name);
    if (this.isDirect) this.#users = state.get(DIRECT_KEY) as DirectUsers | undefined;
  }

  /** `undefined` in other rooms, and until the room is open: then nobody may enter. */
  get users(): DirectUsers | undefined {
    return this.#users;
  }

  /** Opens the room to its two users, once. @throws errors of the storage */
  open(users: DirectUsers): void {
    if (this.#users) return;
    this.#state.put(DIRECT_KEY, users);
    this.#users = users;
  }

  admit({ user }: Pick<Membership, "user">): Refusal | undefined {
    if (this.#isFor(user)) return undefined;
    return deny("FORBIDDEN_ROOM", "This room is between two people, of whom the token names none");
  }

  refuse(_event: EventRules, { user }: Pick<Caller, "user">): ErrorAnswer | undefined {
    return this.#isFor(user) ? undefined : refuse("FORBIDDEN", "This room is between two people");
  }

  #isFor(user: string): boolean {
    return !this.isDirect || this.#users?.includes(user) === true;
  }

  /** In a direct room neither user is a moderator. */
  roleOf(role: Role): Role {
    return this.isDirect && role !== "reader" ? "member" : role;
  }
}

/**
 * Keeps banned users out of a room, and disconnects them, as it does kicked ones (MOD-3, MOD-4). Their connections cannot be recovered
 * (MOD-5).
 */
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

  /** Disconnects a user (MOD-4). @param rank of the caller; connections in shards whose tokens rank as high stay */
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

function bannedText({ reason }: Sanction): string {
  return withReason("You are banned from this room", reason);
}

function withReason(text: string, reason: string | undefined): string {
  return reason === undefined ? `${text}.` : `${text}: ${reason}`;
}

/** Answers `RATE_LIMITED` that a user may get within `FLOOD_WINDOW_MS`: a client that waits for `retryAfterMs` gets a few. */
export const FLOOD_REFUSALS_MAX = 500;
export const FLOOD_WINDOW_MS = 10_000;

/** Such a user is refused for so long. */
export const FLOOD_PAUSE_MS = 30_000;

/** Users counted at a time; one more takes the place of the user whose last refusal is longest ago. */
const COUNTED_USERS_MAX = 1000;

const FLOOD_MESSAGE = "Too many requests: connect again after retryAfterMs.";

/**
 * Disconnects a user who keeps sending after hundreds of `RATE_LIMITED` answers, and refuses them for 30 s: an answer costs the room too
 * (LIM-3). In memory only: a room that sleeps is not being flooded.
 */
export class Flooding implements RoomPart {
  readonly #room: Room;
  readonly #refusals = new Window(FLOOD_WINDOW_MS, COUNTED_USERS_MAX);
  readonly #pausedUntilMs = new Map<string, number>();

  constructor(room: Room) {
    this.#room = room;
  }

  admit({ user }: Pick<Membership, "user">): Refusal | undefined {
    const retryAfterMs = this.#waitMs(user);
    return retryAfterMs > 0 ? deny("RATE_LIMITED", FLOOD_MESSAGE, { retryAfterMs }) : undefined;
  }

  onAnswered({ client }: Caller, answer: Answer<object>): void {
    if (!client || !("error" in answer) || answer.error.code !== "RATE_LIMITED") return;
    const { user } = client.peek();
    const nowMs = this.#room.now();
    if (this.#refusals.count(user, nowMs) <= FLOOD_REFUSALS_MAX) return;
    for (const paused of this.#pausedUntilMs.keys()) if (this.#waitMs(paused) <= 0) this.#pausedUntilMs.delete(paused);
    this.#pausedUntilMs.set(user, nowMs + FLOOD_PAUSE_MS);
    disconnect(client, { code: "RATE_LIMITED", message: FLOOD_MESSAGE, retryAfterMs: FLOOD_PAUSE_MS });
  }

  #waitMs(user: string): number {
    const waitMs = (this.#pausedUntilMs.get(user) ?? 0) - this.#room.now();
    // A clock that was set back makes no pause longer.
    return waitMs <= FLOOD_PAUSE_MS ? waitMs : 0;
  }
}

/** The notice comes first, so that a stock client stays away (MOD-3, MOD-4). */
function disconnect(client: Pick<Connection, "emit" | "disconnect">, notice: Notice): void {
  client.emit("notice", notice);
  client.disconnect(true);
}
