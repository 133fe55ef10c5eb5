// Rooms between two people: their names, and reports of them. Rules: DM-1 to DM-4. Used by rooms, lobbies and the Worker.
import { encode } from "jose/base64url";

import { digestOf } from "./digest.ts";
import { DIRECT_PREFIX } from "./direct-name.ts";
import type { DirectOverview } from "./events/direct.ts";

export type { DirectOverview };

/**
 * The room of two users, in either order: a hash, because user ids are longer than names of rooms, and of any characters. Its name
 * is no secret and lets no user in.
 */
export function directRoomOf(a: string, b: string): string {
  // JSON keeps any two ids apart from any others, also where one has half a character.
  return DIRECT_PREFIX + encode(digestOf(JSON.stringify(a < b ? [a, b] : [b, a])));
}

/** Checks a token's `rooms` claim: its bearer may begin and list them if it opens `dm~*`. */
export function mayOpenDirect(rooms: readonly string[] | undefined): boolean {
  return rooms === undefined || rooms.some((rule) => rule.endsWith("*") && DIRECT_PREFIX.startsWith(rule.slice(0, -1)));
}

/** DM-5: conversations that a user begins, twenty at once and then ten a minute. */
export const DIRECT_OPENINGS = { perSecond: 10 / 60, burst: 20 };

/** The two of them. */
export type DirectUsers = readonly [string, string];

/** The report of such a room. */
export interface DirectReport {
  readonly users: DirectUsers;
  /** The `seq` up to which each of them has read. */
  readonly read: readonly [number, number];
  /** The names of both; the id of one who has never been seen. */
  readonly names?: readonly [string, string];
}

export interface DirectPage {
  readonly dms: readonly DirectOverview[];
  readonly hasMore: boolean;
}

/** The newest first; the name decides between equals. */
export const byActivity = (a: DirectOverview, b: DirectOverview): number =>
  (b.lastActivity ?? 0) - (a.lastActivity ?? 0) || (a.room < b.room ? -1 : +(a.room > b.room));
