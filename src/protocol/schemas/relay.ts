// Schemas of links between rooms, dead letters and announcements, as the HTTP API shows them. Rules: RLY-8, RLY-9, ANN-6.
import * as z from "zod/mini";

import { atMs, count, type Sent } from "./fields.ts";
import { described, named } from "./described.ts";

const linkSchema = z
  .object({
    to: z.string(),
    at: atMs("Since when"),
    seq: count.apply(described, "Messages up to here are handed over"),
    failures: count.apply(described, "Tries in a row that have failed by now"),
  })
  .apply(named, "Link");

export type LinkInfo = Sent<typeof linkSchema>;

const feedSchema = z.object({
  from: z.string(),
  seq: count.apply(described, "Messages of that room up to here have arrived"),
});

/** A room that passes on to this one. */
export type FeedInfo = Sent<typeof feedSchema>;

export const linksSchema = z.object({
  links: z.array(linkSchema).apply(described, "Rooms that this one passes on to"),
  feeds: z.array(feedSchema).apply(described, "Rooms that have passed on to this one"),
});

export type RoomLinks = Sent<typeof linksSchema>;

export const deadLetterSchema = z
  .object({
    id: count,
    at: atMs("When it was given up"),
    from: z.exactOptional(z.string()).apply(described, "The room that passed it on"),
    announcement: z.exactOptional(z.string()).apply(described, "The id of what was announced"),
    to: z.string(),
    messages: count,
    changes: count.apply(described, "Edits and deletions"),
    reason: z.string(),
  })
  .apply(named, "DeadLetter");

/** A batch that was given up, without its contents. Names are empty where this code cannot read the batch. */
export type DeadLetter = Sent<typeof deadLetterSchema>;

export const progressSchema = z.object({
  id: z.string(),
  at: atMs("When it was accepted"),
  accepted: count,
  delivered: count.apply(described, "Rooms, or users, that heard it"),
  absent: count.apply(described, "Empty rooms or absent users, once it is done"),
  failed: count.apply(described, "Not reached; `GET /api/relay/dead` has them"),
  done: z.boolean(),
});

export type AnnounceProgress = Sent<typeof progressSchema>;
