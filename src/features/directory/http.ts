// The call that lists the rooms. The lobby has the list, so no room wakes for it: LOB-1.
import * as z from "zod/mini";

import { ROOM_NAME } from "../../protocol/room-name.ts";
import { placeOf, ROOM_SORTS, type RoomPlace, type RoomSort } from "../../protocol/room-list.ts";
import { listRooms } from "../../rpc/lobby.ts";
import { refuseIssues, refuseWithout } from "../../worker/http/refusals.ts";
import { EVERYONE, refuseRole, STAFF } from "../../worker/api/access.ts";
import { call, type ApiCall } from "../../worker/api/call.ts";
import { limitOf } from "../../protocol/schemas/fields.ts";
import { overviewSchema } from "../../protocol/schemas/presence.ts";
import { cursorSchema, pageAnswers, readCursor, respondPage, writeCursor } from "../../worker/api/pages.ts";
import { described, named } from "../../protocol/schemas/described.ts";

export const ROOMS_LIMIT_DEFAULT = 50;
export const ROOMS_LIMIT_MAX = 500;

const placeSchema = z.object({
  sort: z.literal(ROOM_SORTS),
  value: z.number(),
  room: z.string().check(z.regex(ROOM_NAME)),
});

const roomsPage = z.object({
  rooms: z
    .array(overviewSchema.apply(named, "Room"))
    .apply(described, "As they last reported; busy ones did a minute ago at most"),
  hasMore: z.boolean(),
});

export const LIST_CALLS: readonly ApiCall[] = [
  call({
    id: "listRooms",
    method: "get",
    path: "/api/rooms",
    summary: "List the rooms",
    description:
      "Those that the token opens, with members or a message. Wakes no room. Members and readers may ask " +
      "while `ROOM_LIST` is on. Rooms between two people are in no list but theirs (`GET /api/dms`).",
    roles: EVERYONE,
    given: z.object({
      prefix: z.optional(z.string().check(z.maxLength(64))).apply(described, "How the names begin"),
      sort: z
        ._default(z.literal(ROOM_SORTS), "activity")
        .apply(described, "By the newest message, by members (most first), or by name"),
      limit: limitOf({ byDefault: ROOMS_LIMIT_DEFAULT, max: ROOMS_LIMIT_MAX }),
      cursor: cursorSchema,
    }),
    answers: pageAnswers(roomsPage),
    run: async ({ identity, given: { prefix, sort, limit, cursor }, url, env, deployment: { settings } }) => {
      const isForMembers = !STAFF.includes(identity.role);
      if (isForMembers && !settings.roomList) return refuseRole({ roles: STAFF });
      if (!env.LOBBY) return refuseWithout("LOBBY");
      const after = cursor === undefined ? undefined : placeIn(cursor, sort);
      if (after === null) return refuseIssues([{ path: "cursor", message: `is none of a list by ${sort}` }]);
      // LOB-6.
      const query = { prefix, sort, limit, after, rooms: identity.rooms, isForMembers: true };
      const page = await listRooms(env.LOBBY, settings.lobbies, query);
      const last = page.rooms.at(-1);
      return respondPage(url, { ok: true, ...page }, { cursor: last && cursorOf(sort, placeOf(sort, last)) });
    },
  }),
];

const cursorOf = (sort: RoomSort, { value, room }: RoomPlace): string => writeCursor({ sort, value, room });

/** @returns `null` for a text that names no place in that order */
function placeIn(cursor: string, sort: RoomSort): RoomPlace | null {
  const place = readCursor(placeSchema, cursor);
  return place?.sort === sort ? place : null;
}
