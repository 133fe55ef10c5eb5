// The call that lists the rooms that use most. The lobbies have their numbers, so no room wakes for it.
import * as z from "zod/mini";

import { ranked, USAGE_SORTS } from "../../metrics/busiest-rooms.ts";
import { described } from "../../protocol/schemas/described.ts";
import { count, limitOf } from "../../protocol/schemas/fields.ts";
import { overviewSchema } from "../../protocol/schemas/presence.ts";
import { lobbiesOf } from "../../rpc/lobby.ts";
import { STAFF } from "../../worker/api/access.ts";
import { call, type ApiCall } from "../../worker/api/call.ts";
import { shownUse, fieldsOfUse } from "../../worker/api/room-use.ts";
import { refuseWithout } from "../../worker/http/refusals.ts";

export const USES_LIMIT_DEFAULT = 50;
export const USES_LIMIT_MAX = 200;

const usesAnswer = z.object({
  ok: z.literal(true),
  rooms: z.array(
    z.object({
      ...overviewSchema.shape,
      connections: count,
      facts: z
        .exactOptional(z.catchall(z.object({}), z.number()))
        .apply(described, "Numbers that its features report, without those that are 0"),
      ...fieldsOfUse,
    }),
  ),
});

export const USAGE_CALLS: readonly ApiCall[] = [
  call({
    id: "listRoomUse",
    method: "get",
    path: "/api/stats",
    summary: "The rooms that use most",
    description: "From their last reports; wakes no room.",
    roles: STAFF,
    given: z.object({
      sort: z
        ._default(z.literal(USAGE_SORTS), "traffic")
        .apply(
          described,
          "By deliveries and frames, rows and alarms, wakes, time awake or cost, lately; or by connections",
        ),
      limit: limitOf({ byDefault: USES_LIMIT_DEFAULT, max: USES_LIMIT_MAX }),
      having: z
        .optional(z.string().check(z.minLength(1), z.maxLength(64)))
        .apply(described, "Only rooms that have a number of that name in `facts`"),
    }),
    answers: { 200: { description: "The rooms, the one that uses most first", schema: usesAnswer } },
    run: async ({ identity, given: { sort, limit, having }, env: { LOBBY }, deployment: { settings } }) => {
      if (!LOBBY) return refuseWithout("LOBBY");
      const query = { sort, limit, having, rooms: identity.rooms };
      const uses = (await Promise.all(lobbiesOf(LOBBY, settings.lobbies).map((lobby) => lobby.usage(query)))).flat();
      const nowMs = Date.now();
      const rooms = ranked(uses, sort)
        .slice(0, limit)
        .map(({ sinceMs, usage, recent, deltaId: _deltaId, ...overview }) => ({
          ...overview,
          ...shownUse({ sinceMs, usage, recent }, nowMs),
        }));
      return Response.json({ ok: true, rooms });
    },
  }),
];
