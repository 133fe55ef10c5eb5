// The event that opens a room between two people, and the form of a user's list of them (DM-1, DM-4). Its handler: src/features/direct-messages.
import * as z from "zod/mini";

import { defineEvent, type AnswerOf } from "../event.ts";
import { count, userId, type Sent } from "../schemas/fields.ts";
import { described, named } from "../schemas/described.ts";

/** `room` is to be connected to like any other. */
export const OPEN_DM = defineEvent({
  name: "open-dm",
  schema: z.object({ user: userId }),
  good: z.object({ room: z.string(), isNew: z.boolean() }),
  // Each is a call and may be a row of another room.
  cost: 20,
  by: "everyone",
  examples: [{ user: "ben" }],
});

export type OpenDirectAnswer = AnswerOf<typeof OPEN_DM>;

export const dmSchema = z
  .object({
    room: z.string(),
    user: z.string().apply(described, "The other one"),
    lastSeq: count,
    lastActivity: z.nullable(count).apply(described, "When the newest message was posted, in milliseconds since 1970"),
    unread: count.apply(described, "Messages behind one's read mark"),
  })
  .apply(named, "Dm");

/** One of a user's conversations. */
export type DirectOverview = Sent<typeof dmSchema>;

/** Answers a user who opens more of them than DM-5 lets. */
export const TOO_MANY_OPENINGS = "Rate limit exceeded: too many new conversations.";
