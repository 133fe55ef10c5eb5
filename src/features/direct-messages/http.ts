// Calls that open a conversation between two people, and list a user's own (DM-1, DM-4). The list is the lobby's, so it wakes no room.
import * as z from "zod/mini";

import { TokenBuckets } from "../../clock/rates.ts";
import { dmSchema, TOO_MANY_OPENINGS } from "../../protocol/events/direct.ts";
import { count, limitOf } from "../../protocol/schemas/fields.ts";
import { lobbiesOf } from "../../rpc/lobby.ts";
import { userSchema } from "../../settings/tokens/claims.ts";
import {
  byActivity,
  DIRECT_OPENINGS,
  directRoomOf,
  mayOpenDirect,
  type DirectOverview,
} from "../../protocol/direct-room.ts";
import { ROOM_NAME } from "../../protocol/room-name.ts";
import { refuseForNow, refuseIssues, refuseRequest, refuseWithout } from "../../worker/http/refusals.ts";
import { actingAs, actingAsUser, EVERYONE } from "../../worker/api/access.ts";
import { answering, call, type ApiCall } from "../../worker/api/call.ts";
import { cursorSchema, pageAnswers, readCursor, respondPage, writeCursor } from "../../worker/api/pages.ts";
import { respond } from "../../worker/api/responses.ts";
import { described } from "../../protocol/schemas/described.ts";

/** The conversations that users of this isolate begin (DM-5), counted together whether a room or the Worker begins them. */
export const directOpenings = new TokenBuckets(DIRECT_OPENINGS);

export const DMS_LIMIT_DEFAULT = 50;
export const DMS_LIMIT_MAX = 200;

const placeSchema = z.object({ lastActivity: count, room: z.string().check(z.regex(ROOM_NAME)) });

const opened = answering(z.object({ room: z.string().apply(described, "To be connected to like any other") }));

export const DIRECT_CALLS: readonly ApiCall[] = [
  call({
    id: "openDm",
    method: "post",
    path: "/api/dms",
    summary: "Open a conversation between two people",
    description: "Between the token's user and `user`. Both users get the same one.",
    roles: ["service", "moderator", "member"],
    given: z.object({ user: userSchema.apply(described, "The other one"), as: z.optional(actingAs) }),
    answers: {
      201: { description: "It is open for both", schema: opened },
      200: { description: "It was open before", schema: opened },
    },
    run: async ({ identity, caller, given: { user }, env }) => {
      if (caller.user === user) return refuseIssues([{ path: "user", message: "is yourself" }]);
      if (!mayOpenDirect(identity.rooms))
        return refuseRequest("FORBIDDEN_ROOM", "The token opens no rooms between two people (dm~*)");
      const room = directRoomOf(caller.user, user);
      const beginner = caller.guests ?? caller.user;
      const taking = identity.role === "service" ? undefined : directOpenings.take(beginner, Date.now());
      if (taking?.ok === false) return refuseForNow("RATE_LIMITED", TOO_MANY_OPENINGS, taking.retryAfterMs);
      const answer = await env.CHAT_ROOM.getByName(room).openDirect([caller.user, user], [caller.name, undefined]);
      if (taking && !("ok" in answer && answer.isNew)) directOpenings.giveBack(beginner, Date.now());
      return respond(answer, ({ isNew }) => Response.json({ ok: true, room }, { status: isNew ? 201 : 200 }));
    },
  }),
  call({
    id: "listDms",
    method: "get",
    path: "/api/dms",
    summary: "One's own conversations",
    description: "The newest first, as their rooms last reported them. Wakes no room.",
    roles: EVERYONE,
    given: z.object({
      limit: limitOf({ byDefault: DMS_LIMIT_DEFAULT, max: DMS_LIMIT_MAX }),
      cursor: cursorSchema,
      as: z.optional(actingAsUser),
    }),
    answers: pageAnswers(z.object({ dms: z.array(dmSchema), hasMore: z.boolean() })),
    run: async ({ identity, caller, given: { limit, cursor }, env, url, deployment }) => {
      if (!mayOpenDirect(identity.rooms))
        return refuseRequest("FORBIDDEN_ROOM", "The token opens no rooms between two people (dm~*)");
      if (!env.LOBBY) return refuseWithout("LOBBY");
      const after = cursor === undefined ? undefined : placeIn(cursor);
      if (after === null) return refuseIssues([{ path: "cursor", message: "is none of this list" }]);
      const query = { limit, ...(after && { after }) };
      const lobbies = lobbiesOf(env.LOBBY, deployment.settings.lobbies);
      const pages = await Promise.all(lobbies.map((lobby) => lobby.listDirect(caller.user, query)));
      const all = pages.flatMap(({ dms }) => dms).sort(byActivity);
      const dms = all.slice(0, limit);
      const hasMore = all.length > limit || pages.some((page) => page.hasMore);
      const last = dms.at(-1);
      return respondPage(url, { ok: true, dms, hasMore }, { cursor: last && cursorOf(last) });
    },
  }),
];

const cursorOf = ({ lastActivity, room }: DirectOverview): string =>
  writeCursor({ lastActivity: lastActivity ?? 0, room });

/** @returns `null` for a text that names no place in the list */
function placeIn(cursor: string): DirectOverview | null {
  const place = readCursor(placeSchema, cursor);
  return place && { ...place, user: "", lastSeq: 0, unread: 0 };
}
