// Schemas of rooms between two people: opening one, and a user's list of them. Rules: DM-1, DM-4.
import * as z from "zod/mini";

import { count, userId, type Sent } from "./fields.ts";
import { described, named } from "./described.ts";

export const openDirectSchema = z.object({ user: userId });

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
