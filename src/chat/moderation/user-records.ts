// Stores bans, mutes and granted roles: one row per user who has one, read when the user is first looked up, so a room with
// thousands of bans wakes as fast as one with none. One rule holds throughout: a ruling binds users who rank below its author, and
// only moderators of its author's rank or above undo it (MOD-2).
import type { GrantedRole, Role } from "../../protocol/chat-events.ts";
import { type Rank, RANKS, rankOfToken } from "../../protocol/roles.ts";
import type { RoomState } from "../../storage/room-state.ts";
import type { Caller } from "../room/operation.ts";
import type { Room } from "../room/room.ts";
import type { Sanction, Sanctions, TokenHolder } from "../room/sanctions.ts";

/** One decision of a moderator about a user. */
export interface Ruling extends Sanction {
  readonly by: string;
  /** Of its author, when it was made. */
  readonly rank: Rank;
  readonly atMs: number;
}

export interface UserRecord {
  readonly ban?: Ruling;
  readonly mute?: Ruling;
  readonly grant?: Ruling & { readonly role: GrantedRole };
  /** When the user was last kicked or banned: no connection from before can be recovered (MOD-5). */
  readonly removedAtMs?: number;
}

const PREFIX = "moderation:user:";

/** Users whose records are held in memory; past it they are read again. */
const REMEMBERED_MAX = 10_000;

/** Rows that each change looks at besides its own, to delete records of which nothing holds any more. */
const TIDIED_PER_CHANGE = 10;

/** As long as the longest recovery window. */
const REMOVAL_KEPT_MS = 24 * 3_600_000;

const BLANK: UserRecord = {};

export class UserRecords implements Sanctions {
  readonly #room: Room;
  readonly #state: RoomState;
  readonly #remembered = new Map<string, UserRecord>();
  /** Where tidying goes on: behind a user, or from the start. */
  #tidying: { readonly after: string | undefined } | undefined;

  constructor(room: Room) {
    this.#room = room;
    this.#state = room.state;
  }

  // ---- records ---------------------------------------------------------------------------------------------

  /** The part of a user's record that holds now. */
  current(user: string): UserRecord {
    return currentOf(this.#get(user), this.#room.now()) ?? BLANK;
  }

  /** Users about whom something holds, in the order of their keys. Read as they are asked for. */
  *allCurrent(after: string | undefined): Iterable<[user: string, UserRecord]> {
    for (const [user, record] of this.#stored(after)) {
      const current = currentOf(record, this.#room.now());
      if (current) yield [user, current];
    }
  }

  /** Stores a record: one row, and one more for each row that is tidied away. */
  set(user: string, record: UserRecord): void {
    const current = currentOf(record, this.#room.now());
    if (current) this.#state.put(keyOf(user), current);
    else this.#state.delete(keyOf(user));
    this.#remember(user, current ?? BLANK);
    this.#tidy(user);
  }

  #get(user: string): UserRecord {
    const known = this.#remembered.get(user);
    if (known) return known;
    return this.#remember(user, (this.#state.get(keyOf(user)) as UserRecord | undefined) ?? BLANK);
  }

  #remember(user: string, record: UserRecord): UserRecord {
    if (this.#remembered.size >= REMEMBERED_MAX) this.#remembered.clear();
    this.#remembered.set(user, record);
    return record;
  }

  *#stored(after: string | undefined, limit?: number): Iterable<[user: string, UserRecord]> {
    const rows = this.#state.list({
      prefix: PREFIX,
      ...(after !== undefined && { startAfter: keyOf(after) }),
      ...(limit !== undefined && { limit }),
    });
    for (const [key, record] of rows) yield [userOf(key), record as UserRecord];
  }

  /** @param changed where to begin after the room woke */
  #tidy(changed: string): void {
    const rows = [...this.#stored(this.#tidying ? this.#tidying.after : changed, TIDIED_PER_CHANGE)];
    this.#tidying = { after: rows.length === TIDIED_PER_CHANGE ? rows.at(-1)![0] : undefined };
    for (const [user, record] of rows) {
      if (currentOf(record, this.#room.now())) continue;
      this.#state.delete(keyOf(user));
      this.#remembered.delete(user);
    }
  }

  // ---- sanctions ------------------------------------------------------------------------------------------

  roleOf({ user, tokenRole }: TokenHolder): Role {
    return this.#grantOf(user, tokenRole)?.role ?? tokenRole;
  }

  rankOf({ user, tokenRole }: TokenHolder): Rank {
    const own = rankOfToken(tokenRole);
    const grant = this.#grantOf(user, tokenRole);
    if (!grant) return own;
    if (grant.role !== "moderator") return RANKS.everybody;
    return own === RANKS.everybody ? RANKS.granted : own;
  }

  banOf(holder: TokenHolder): Sanction | undefined {
    return this.#binding("ban", holder);
  }

  muteOf(holder: TokenHolder): Sanction | undefined {
    return this.#binding("mute", holder);
  }

  /** When the user was last kicked or banned; 0 without either. */
  removedAtMs(user: string): number {
    return this.#get(user).removedAtMs ?? 0;
  }

  /**
   * Whether a caller ranks above a user, on all of the user's connections.
   * @param role the highest in which the user is known to have been here besides
   */
  mayActOn(caller: Caller, user: string, role: Role = "member"): boolean {
    if (user === caller.user) return false;
    const roles = [role, ...this.#room.clientsOf(user).map((client) => client.peek().role)];
    const rank = this.rankOf(caller);
    return roles.every((tokenRole) => this.rankOf({ user, tokenRole }) < rank);
  }

  /** The backend may change any message: it could post in its author's name, too (API-5). */
  mayChangeMessageOf(caller: Caller, author: string, writtenAs: Role | undefined): boolean {
    return this.rankOf(caller) === RANKS.service || this.mayActOn(caller, author, writtenAs);
  }

  #binding(kind: "ban" | "mute", holder: TokenHolder): Ruling | undefined {
    const { [kind]: ruling } = this.#get(holder.user);
    return isOn(ruling, this.#room.now()) && ruling.rank > this.rankOf(holder) ? ruling : undefined;
  }

  #grantOf(user: string, tokenRole: Role): UserRecord["grant"] {
    const { grant } = this.#get(user);
    return grant && grant.rank > rankOfToken(tokenRole) ? grant : undefined;
  }
}

const isOn = (ruling: Ruling | undefined, nowMs: number): ruling is Ruling =>
  ruling !== undefined && (ruling.untilMs === undefined || ruling.untilMs > nowMs);

/** The part of a record that still holds; `undefined` where nothing does. */
function currentOf({ ban, mute, grant, removedAtMs }: UserRecord, nowMs: number): UserRecord | undefined {
  const isRecent = removedAtMs !== undefined && nowMs - removedAtMs < REMOVAL_KEPT_MS;
  const current = {
    ...(isOn(ban, nowMs) && { ban }),
    ...(isOn(mute, nowMs) && { mute }),
    ...(grant && { grant }),
    ...(isRecent && { removedAtMs }),
  };
  return Object.keys(current).length > 0 ? current : undefined;
}

/** As JSON, because a user id may hold anything, and a key keeps only text that is well-formed. */
const keyOf = (user: string): string => `${PREFIX}${JSON.stringify(user)}`;
const userOf = (key: string): string => JSON.parse(key.slice(PREFIX.length)) as string;
