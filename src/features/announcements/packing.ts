// Packs announcements into as few messages of the queue as possible (ANN-5). Called by http.ts and by announcing.ts.
import type {
  Announcement,
  AnnounceDestination,
  AnnounceLook,
  AnnouncePart,
  NumberedUser,
} from "../../protocol/announcement.ts";
import { bytesOf, inChunks, RELAY_BYTES_MAX } from "../../relay/packing.ts";

/** Rooms in one part. */
export const ANNOUNCE_ROOMS_MAX = 100;

/** Bytes of an announcement's data as JSON. */
export const ANNOUNCE_DATA_BYTES_MAX = 32_768;

/** Users of one room in one part, in bytes. */
const USERS = { bytesMax: 40_000 };

/** Users of one search, in bytes: if each is in another room, the names of the rooms have to fit, too. */
const LOOK = { bytesMax: 10_000 };

/** A destination without its users: keys, brackets, a name of 64 characters and a number. */
const DESTINATION_BYTES = 120;

export function packRooms(
  announce: Announcement,
  rooms: readonly string[],
  { firstNumber = 0, firstPart = 0 } = {},
): AnnouncePart[] {
  const to = rooms.map((room, i) => ({ room, number: firstNumber + i }));
  const chunks = inChunks(to, { itemsMax: ANNOUNCE_ROOMS_MAX });
  return chunks.map((some, i) => ({ announce, part: firstPart + i, tries: 0, to: some }));
}

/**
 * @param found the rooms of users, as far as they are known
 * @param unknown rooms whose members are not known
 */
export function packUsers(
  announce: Announcement,
  users: readonly string[],
  { found, unknown }: { readonly found: ReadonlyMap<string, readonly number[]>; readonly unknown: readonly string[] },
): AnnouncePart[] {
  const numbered = (number: number): NumberedUser => [number, users[number]!];
  const known = [...found].flatMap(([room, numbers]): AnnounceDestination[] =>
    inChunks(numbers.map(numbered), USERS).map((some) => ({ room, users: some })),
  );
  const ofKnown = inChunks(known, {
    itemsMax: ANNOUNCE_ROOMS_MAX,
    bytesMax: RELAY_BYTES_MAX - bytesOf(announce),
    bytesOf: (destination) => DESTINATION_BYTES + bytesOf(destination.users ?? []),
  }).map((to) => ({ to }));
  const rooms = unknown.map((room) => ({ room }));
  const ofUnknown = inChunks(Array.from(users.keys(), numbered), USERS).flatMap((unlocated) =>
    inChunks(rooms, { itemsMax: ANNOUNCE_ROOMS_MAX }).map((to) => ({ to, unlocated })),
  );
  return [...ofKnown, ...ofUnknown].map((part, number) => ({ announce, part: number, tries: 0, ...part }));
}

/** Packs users whom no lobby knows, for one more search. */
export function packLooks(announce: Announcement, users: readonly NumberedUser[], firstPart: number): AnnounceLook[] {
  return inChunks(users, LOOK).map((look, i) => ({ announce, part: firstPart + i, look }));
}
