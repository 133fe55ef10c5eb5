// Schemas of members, and of a room's overview.
import * as z from "zod/mini";

import { atMs, count, type Sent } from "./fields.ts";
import { described, named } from "./described.ts";

export const roleSchema = z.literal(["member", "moderator", "reader", "service"]);
export type Role = Sent<typeof roleSchema>;

export const memberSchema = z
  .object({
    user: z.string(),
    name: z.string(),
    connections: count,
    since: atMs("Since when the member is here"),
    role: z
      .exactOptional(roleSchema)
      .apply(described, "The member's rights here, where they differ from a plain member's"),
    granted: z.exactOptional(z.literal(true)).apply(described, "The room itself gave that role"),
  })
  .apply(named, "Member");

/**
 * A person present in a room; several tabs are one member. `connections` is 0 while the room waits whether a member comes back.
 * A reload does not change `since` (PRES-1).
 */
export type Member = Sent<typeof memberSchema>;

export const overviewSchema = z.object({
  room: z.string(),
  members: count.apply(described, "People, not connections"),
  lastSeq: count.apply(described, "The seq of the newest message, 0 in an empty room"),
  lastActivity: z.nullable(count).apply(described, "When the newest message was posted, in milliseconds since 1970"),
  name: z.exactOptional(z.string()).apply(described, "What moderators call it; absent: its id alone"),
});

/** A room as the list of rooms shows it. */
export type RoomOverview = Sent<typeof overviewSchema>;
