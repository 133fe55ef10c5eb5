// Parts of announcements, in the form in which they travel (ANN-1 to ANN-6). Read by relay/readable-batch.ts.
import * as z from "zod/mini";

import { ANNOUNCE_VERSION, ANNOUNCEMENT_ID_CHARS_MAX, isReservedEvent, POSTED_EVENT } from "../announcement.ts";
import { count, type Sent } from "./fields.ts";
import { roomName } from "./relay-batch.ts";

/** More than all lobbies list. Progress takes memory in proportion to the highest number. */
const NUMBER_MAX = 9_999_999;

const announceSchema = z.object({
  v: z.literal(ANNOUNCE_VERSION),
  /** Unique everywhere. */
  id: z.string().check(z.minLength(1), z.maxLength(ANNOUNCEMENT_ID_CHARS_MAX)),
  /** Absent: `announcement`. */
  event: z.exactOptional(z.string().check(z.refine((event) => event === POSTED_EVENT || !isReservedEvent(event)))),
  data: z.unknown(),
  /** When it was accepted, in milliseconds since 1970. */
  at: count,
  /** The sender, where the event is a message. */
  by: z.object({ user: z.string().check(z.minLength(1)), name: z.string() }),
});

export type Announcement = Sent<typeof announceSchema>;

const number = count.check(z.maximum(NUMBER_MAX));
const usersSchema = z.array(z.tuple([number, z.string()]));

/** An addressed user's number among all, and the user. */
export type NumberedUser = Sent<typeof usersSchema>[number];

const destinationSchema = z.object({
  room: roomName,
  /** The room's number among all, where rooms are addressed. */
  number: z.exactOptional(number),
  /** The users who are there, as far as the lobby knows. */
  users: z.exactOptional(usersSchema),
});

export type AnnounceDestination = Sent<typeof destinationSchema>;

const partSchema = z.object({
  announce: announceSchema,
  part: number,
  /** Tries that have failed. */
  tries: count,
  to: z.array(destinationSchema),
  /** Users to look for in rooms whose members the lobby does not know. */
  unlocated: z.exactOptional(usersSchema),
});

/** One message of the queue. */
export type AnnouncePart = Sent<typeof partSchema>;

const walkSchema = z.object({
  announce: announceSchema,
  walk: z.object({
    prefix: z.string(),
    /** The last room that was taken. */
    after: z.exactOptional(z.string()),
    /** Rooms so far. */
    rooms: number,
    /** Parts so far. */
    parts: number,
  }),
});

/** The rest of a list of rooms by prefix. */
export type AnnounceWalk = Sent<typeof walkSchema>;

const lookSchema = z.object({ announce: announceSchema, part: number, look: usersSchema });

/** Users who were nowhere, to be looked for once more: a part whose rooms are not known yet (ANN-7). */
export type AnnounceLook = Sent<typeof lookSchema>;

export const itemSchema = z.union([partSchema, walkSchema, lookSchema]);

export type AnnounceItem = AnnouncePart | AnnounceWalk | AnnounceLook;
