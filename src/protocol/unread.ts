// Counts of unread messages in the report of a room: a mark and a count for each of its readers, so that its lobby can tell a user how much
// is new where, and no name of a room to anybody else. Written by the chat, read by the lobby.
import { encode } from "jose/base64url";

import { digestOf } from "./digest.ts";

/** Counting ends there: pages show "99+". */
export const UNREAD_MAX = 100;

/** 72 bits: nobody finds a user id with the mark of another one, whose rooms they would learn. */
const MARK_LENGTH = 12;
const COUNT_LENGTH = 2;
/** Characters of one reader. */
export const READER_LENGTH = MARK_LENGTH + COUNT_LENGTH;
const RADIX = 36;

export const readerMark = (user: string): string => encode(digestOf(user)).slice(0, MARK_LENGTH);

export function packUnread(counts: Iterable<readonly [mark: string, count: number]>): string {
  return Array.from(counts, ([mark, count]) => mark + count.toString(RADIX).padStart(COUNT_LENGTH, "0")).join("");
}

export function* eachReader(packed: string): Iterable<string> {
  for (let at = 0; at < packed.length; at += READER_LENGTH) yield packed.slice(at, at + MARK_LENGTH);
}

/** @returns `undefined` for a user who is no reader of the room */
export function unreadBy(packed: string, mark: string): number | undefined {
  let at = packed.indexOf(mark);
  // The same letters may begin in another reader's mark.
  while (at > 0 && at % READER_LENGTH !== 0) at = packed.indexOf(mark, at + 1);
  return at < 0 ? undefined : Number.parseInt(packed.slice(at + MARK_LENGTH, at + MARK_LENGTH + COUNT_LENGTH), RADIX);
}
