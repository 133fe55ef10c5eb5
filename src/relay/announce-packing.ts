// Puts what is announced into as few messages of the queue as it fits: ANN-5.
import { utf8ToBytes } from "@noble/hashes/utils.js";

import type {
  Announcement,
  AnnounceDestination,
  AnnounceLook,
  AnnouncePart,
  NumberedUser,
} from "../protocol/announcement.ts";
import { RELAY_BYTES_MAX } from "./packing.ts";

/** Rooms in one part. */
export const ANNOUNCE_ROOMS_MAX = 100;

/** Bytes of an announcement's data as JSON. */
export const ANNOUNCE_DATA_BYTES_MAX = 32_768;

/** Users of one room who travel together, in bytes; the rest of the room's come in another part. */
const USERS_BYTES_MAX = 40_000;

/** Users who are looked for once more together, in bytes: if each is in another room, their rooms have to fit, too. */
const LOOK_BYTES_MAX = 10_000;

/** What a destination takes besides its users: keys, brackets, a name of 64 characters and a number. */
const DESTINATION_BYTES = 120;

export function packRooms(
  announce: Announcement,
  rooms: readonly string[],
  { firstNumber = 0, firstPart = 0 } = {},
): AnnouncePart[] {
  const to = rooms.map((room, i) => ({ room, number: firstNumber + i }));
  return chunks(to, ANNOUNCE_ROOMS_MAX).map((some, i) => ({ announce, part: firstPart + i, tries: 0, to: some }));
}

/**
 * @param found who is known to be where
 * @param unknown rooms of which it is not known
 */
export function packUsers(
  announce: Announcement,
  users: readonly string[],
  { found, unknown }: { readonly found: ReadonlyMap<string, readonly number[]>; readonly unknown: readonly string[] },
): AnnouncePart[] {
  const known = [...found].flatMap(([room, numbers]) =>
    usersInChunks(numbers.map((number) => [number, users[number]!] as const)).map((some) => ({ room, users: some })),
  );
  const parts: Array<Pick<AnnouncePart, "to" | "whoever">> = fill(announce, known).map((to) => ({ to }));
  for (const some of usersInChunks(users.map((user, number) => [number, user] as const))) {
    for (const rooms of chunks(unknown, ANNOUNCE_ROOMS_MAX))
      parts.push({ to: rooms.map((room) => ({ room })), whoever: some });
  }
  return parts.map((part, number) => ({ announce, part: number, tries: 0, ...part }));
}

/** Those whom nobody knew anything of, to be looked for once more. */
export function packLooks(announce: Announcement, users: readonly NumberedUser[], firstPart: number): AnnounceLook[] {
  return usersInChunks(users, LOOK_BYTES_MAX).map((look, i) => ({ announce, part: firstPart + i, look }));
}

function fill(announce: Announcement, destinations: readonly AnnounceDestination[]): AnnounceDestination[][] {
  const parts: AnnounceDestination[][] = [];
  const emptyBytes = bytesOf(announce);
  let bytes = Infinity;
  for (const destination of destinations) {
    const more = DESTINATION_BYTES + bytesOf(destination.users ?? []);
    const isFull = bytes + more > RELAY_BYTES_MAX || parts.at(-1)!.length === ANNOUNCE_ROOMS_MAX;
    if (isFull) {
      parts.push([]);
      bytes = emptyBytes;
    }
    parts.at(-1)!.push(destination);
    bytes += more;
  }
  return parts;
}

function usersInChunks(users: readonly NumberedUser[], bytesMax = USERS_BYTES_MAX): NumberedUser[][] {
  const all: NumberedUser[][] = [];
  let bytes = Infinity;
  for (const user of users) {
    const more = bytesOf(user) + 1;
    if (bytes + more > bytesMax) {
      all.push([]);
      bytes = 0;
    }
    all.at(-1)!.push(user);
    bytes += more;
  }
  return all;
}

function chunks<Item>(items: readonly Item[], length: number): Item[][] {
  const all: Item[][] = [];
  for (let from = 0; from < items.length; from += length) all.push(items.slice(from, from + length));
  return all;
}

export const bytesOf = (value: unknown): number => utf8ToBytes(JSON.stringify(value)).length;
