// Schemas of rooms between two people: opening one, and a user's list of them. Rules: DM-1, DM-4.
import * as z from "zod";

import { count, userId, type Sent } from "./fields.ts";

export const openDirectSchema = z.object({ user: userId });

export const dmSchema = z
  .object({
    room: z.string(),
    user: z.string().describe("The other one"),
    lastSeq: count,
    lastActivity: count.nullable().describe("When the newest message was posted, in milliseconds since 1970"),
    unread: count.describe("Messages behind one's own read mark, as the room last said"),
  })
  .meta({ id: "Dm" });

/** One of a user's conversations. */
export type DirectOverview = Sent<typeof dmSchema>;

/** Answers a user who opens more of them than DM-5 lets. */
export const TOO_MANY_OPENINGS = "Rate limit exceeded: too many new conversations.";
