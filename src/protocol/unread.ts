// The text form of unread counts and mentions in a room's report to the directory. Readers appear as hashes, so the directory can count for a
// user who asks, and a report names nobody. The room (chat/people/unread-counts.ts) writes it, and the directory reads it.
import { encode } from "jose/base64url";

import { digestOf } from "./digest.ts";

/** Counting ends there: pages show "99+". */
export const UNREAD_MAX = 100;

/** 72 bits: nobody finds a user id with the mark of another one, whose rooms they would learn. */
const MARK_LENGTH = 12;
const COUNT_LENGTH = 2;
const SEQ_LENGTH = 8;
/** Characters that a reader takes in the text; a mentioned reader takes `MENTIONED_LENGTH`. */
export const READER_LENGTH = MARK_LENGTH + COUNT_LENGTH;
const MENTIONED_LENGTH = READER_LENGTH + SEQ_LENGTH;
const RADIX = 36;

/** Unread messages that speak to a reader: how many, and the `seq` of the newest one. */
export interface UnreadMentions {
  readonly mentions: number;
  readonly mentionSeq?: number;
}

/** What the report of a room says about its readers. */
export interface ReportedUnread {
  /** Unread messages by reader. */
  readonly unread?: string;
  /** Those among them that speak to the reader; absent where none does. */
  readonly mentioned?: string;
}

export const readerMark = (user: string): string => encode(digestOf(user)).slice(0, MARK_LENGTH);

const packed = (number: number, length: number): string => number.toString(RADIX).padStart(length, "0");

export function packUnread(counts: Iterable<readonly [mark: string, count: number]>): string {
  return Array.from(counts, ([mark, count]) => mark + packed(count, COUNT_LENGTH)).join("");
}

export function packMentioned(all: Iterable<readonly [mark: string, count: number, newestSeq: number]>): string {
  return Array.from(all, ([mark, count, seq]) => mark + packed(count, COUNT_LENGTH) + packed(seq, SEQ_LENGTH)).join("");
}

export function* eachReader(unread: string): Iterable<string> {
  for (let at = 0; at < unread.length; at += READER_LENGTH) yield unread.slice(at, at + MARK_LENGTH);
}

/** @returns `undefined` for a user who is no reader of the room */
export function unreadBy(unread: string, mark: string): number | undefined {
  const at = placeOf(unread, mark, READER_LENGTH);
  return at < 0 ? undefined : numberAt(unread, at + MARK_LENGTH, COUNT_LENGTH);
}

export function mentionsOf(mentioned: string, mark: string): UnreadMentions {
  const at = placeOf(mentioned, mark, MENTIONED_LENGTH);
  if (at < 0) return { mentions: 0 };
  const mentions = numberAt(mentioned, at + MARK_LENGTH, COUNT_LENGTH);
  return { mentions, mentionSeq: numberAt(mentioned, at + READER_LENGTH, SEQ_LENGTH) };
}

/**
 * A room looks for mentions among its newest messages only. Of readers with more unread messages than it counts, older mentions stay known as
 * they were, also those that have been read: a report does not say how far each of its readers has read.
 * @returns the mentions of a later report together with those of the one before
 */
export function withEarlierMentions({ unread = "", mentioned = "" }: ReportedUnread, before = ""): string {
  let all = mentioned;
  for (let at = 0; at < before.length; at += MENTIONED_LENGTH) {
    const mark = before.slice(at, at + MARK_LENGTH);
    const isBeyond = unreadBy(unread, mark) === UNREAD_MAX;
    if (isBeyond && placeOf(mentioned, mark, MENTIONED_LENGTH) < 0) all += before.slice(at, at + MENTIONED_LENGTH);
  }
  return all;
}

function placeOf(entries: string, mark: string, length: number): number {
  let at = entries.indexOf(mark);
  // The same letters may begin in another reader's mark.
  while (at > 0 && at % length !== 0) at = entries.indexOf(mark, at + 1);
  return at;
}

const numberAt = (entries: string, at: number, length: number): number =>
  Number.parseInt(entries.slice(at, at + length), RADIX);
