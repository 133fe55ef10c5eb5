// The schema of a user's own list of rooms, with what is new in each. Rule: LOB-9.
import * as z from "zod/mini";

import { count, type Sent } from "./fields.ts";
import { described, named } from "./described.ts";
import { overviewSchema } from "./presence.ts";
import { UNREAD_MAX } from "../unread.ts";

export const joinedRoomSchema = z
  .object({
    ...overviewSchema.shape,
    unread: count.apply(
      described,
      `Messages of others that are not read and not deleted; ${UNREAD_MAX} for that many or more`,
    ),
    mentions: count.apply(
      described,
      "Those among them that mention the user; in a room between two people, all of them",
    ),
    mentionSeq: z.exactOptional(count).apply(described, "The newest of these"),
    direct: z
      .exactOptional(z.object({ user: z.string(), name: z.string() }))
      .apply(described, "The other one, in a room between two people"),
  })
  .apply(named, "JoinedRoom");

/** A room that a user has been in. */
export type JoinedRoom = Sent<typeof joinedRoomSchema>;

/** A user's list, as one lobby has it. */
export interface JoinedRooms {
  readonly rooms: readonly JoinedRoom[];
  /** Another one once a count or a room has changed. */
  readonly version: string;
  /** Rooms that are awake, and do not know yet that the user looks. */
  readonly unaware: readonly string[];
}
