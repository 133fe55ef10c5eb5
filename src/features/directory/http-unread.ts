// The call that lists the rooms of a user with what is new in them (LOB-9). The lobby has it, so no room wakes for it.
import * as z from "zod/mini";

import { described } from "../../protocol/schemas/described.ts";
import { joinedRoomSchema, type JoinedRooms } from "../../protocol/schemas/unread.ts";
import { lobbiesOf } from "../../rpc/lobby.ts";
import { refuseWithout } from "../../worker/http/refusals.ts";
import { actingAsUser, EVERYONE } from "../../worker/api/access.ts";
import { answering, call, type ApiCall } from "../../worker/api/call.ts";

/** Below the time after which proxies give up a request that is not answered. */
export const WAIT_SECONDS_MAX = 25;

/** Versions of the lists of all lobbies. */
const SINCE_LENGTH_MAX = 4000;

export const UNREAD_CALLS: readonly ApiCall[] = [
  call({
    id: "listUnread",
    method: "get",
    path: "/api/unread",
    summary: "One's own rooms, and what is new there",
    description:
      "Rooms that the user has been in and that the token opens, rooms between two people among them, the newest message first; " +
      "the first 500 of each directory. " +
      "Also where `ROOM_LIST` is off. Wakes no room.",
    roles: EVERYONE,
    given: z.object({
      since: z
        .optional(z.string().check(z.maxLength(SINCE_LENGTH_MAX)))
        .apply(described, "The `version` of the answer before: `wait` waits for another one"),
      wait: z
        ._default(z.int().check(z.minimum(0), z.maximum(WAIT_SECONDS_MAX)), 0)
        .apply(described, "Seconds to wait for a change"),
      as: z.optional(actingAsUser),
    }),
    answers: {
      200: {
        description: "The rooms",
        schema: answering(
          z.object({
            rooms: z.array(joinedRoomSchema),
            version: z.string().apply(described, "Another one after a change of `unread`, or of the rooms"),
          }),
        ),
      },
    },
    run: async ({ identity, caller, given: { since = "", wait }, env, deployment }) => {
      if (!env.LOBBY) return refuseWithout("LOBBY");
      const lobbies = lobbiesOf(env.LOBBY, deployment.settings.lobbies);
      const known = since.split(",");
      const ask = (waitMs: number): Array<Promise<JoinedRooms>> =>
        lobbies.map((lobby, at) => lobby.joined(caller.user, { since: known[at], waitMs, opened: identity.rooms }));
      let lists = await Promise.all(ask(0));
      // A room that is gone meanwhile answers nobody.
      for (const room of lists.flatMap(({ unaware }) => unaware))
        env.CHAT_ROOM.getByName(room)
          .watched()
          .catch(() => {});
      if (wait > 0 && versionOf(lists) === since) {
        await Promise.race(ask(wait * 1000));
        lists = await Promise.all(ask(0));
      }
      const rooms = lists.flatMap((list) => list.rooms);
      rooms.sort((a, b) => (b.lastActivity ?? 0) - (a.lastActivity ?? 0) || (a.room < b.room ? -1 : 1));
      return Response.json({ ok: true, rooms, version: versionOf(lists) });
    },
  }),
];

const versionOf = (lists: readonly JoinedRooms[]): string => lists.map(({ version }) => version).join(",");
