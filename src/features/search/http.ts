// The HTTP calls that search a room (SRCH-1), and a user's rooms for mentions of them (SRCH-10): they ask the rooms for the event `search`.
import * as z from "zod/mini";

import { isDirectRoom } from "../../protocol/direct-name.ts";
import { foundMessageSchema, SEARCH, type FoundMessage, type SearchAnswer } from "../../protocol/events/search.ts";
import { roomAllowed } from "../../protocol/room-name.ts";
import { described } from "../../protocol/schemas/described.ts";
import { lobbiesOf } from "../../rpc/lobby.ts";
import { refuseWithout } from "../../worker/http/refusals.ts";
import { actingAsUser, EVERYONE, STAFF } from "../../worker/api/access.ts";
import { answering, call, room, type ApiCall } from "../../worker/api/call.ts";
import { respondPage } from "../../worker/api/pages.ts";
import { asking } from "../../worker/api/responses.ts";

/** Rooms that are asked for mentions: those with the newest messages. */
const ROOMS_MAX = 20;

export const SEARCH_CALLS: readonly ApiCall[] = [
  call({
    id: "searchMessages",
    method: "get",
    path: "/api/rooms/{room}/search",
    summary: "Find messages",
    description:
      'Newest first. `query` is words, all of which a message has to have, a "phrase" in quotes, or `begin*`; `from` is a user id. One ' +
      "of the two is needed. `Link` leads to older ones; a page may be short, or empty.",
    roles: STAFF,
    given: z.object({ ...SEARCH.schema.shape, room }),
    answers: {
      200: {
        description: "The page",
        schema: answering(SEARCH.good),
        headers: { Link: 'The next page, `rel="next"`, if there is more to look at' },
      },
    },
    run: asking(SEARCH, (page, url) => respondPage(url, page, { before: page.before })),
  }),
  call({
    id: "listMentions",
    method: "get",
    path: "/api/mentions",
    summary: "Messages that mention oneself",
    description:
      `Of the user's own rooms, the ${ROOMS_MAX} with the newest messages among them, newest first. Rooms between two people are left out. ` +
      "Asks the rooms, so it may wake them.",
    roles: EVERYONE,
    given: z.object({
      beforeTime: SEARCH.schema.shape.beforeTime,
      limit: SEARCH.schema.shape.limit,
      room: z.optional(room).apply(described, "In that room alone"),
      as: z.optional(actingAsUser),
    }),
    answers: {
      200: {
        description: "The messages",
        schema: answering(
          z.object({
            messages: z.array(foundMessageSchema),
            isComplete: z
              .boolean()
              .apply(described, "Whether all the rooms have looked through as much as the page needs"),
          }),
        ),
      },
    },
    run: async ({ identity, caller, given: { room: only, as: _as, ...bounds }, env, roomRpc, deployment }) => {
      if (!env.LOBBY) return refuseWithout("LOBBY");
      const lobbies = lobbiesOf(env.LOBBY, deployment.settings.lobbies);
      const lists = await Promise.all(lobbies.map((lobby) => lobby.joined(caller.user, { waitMs: 0 })));
      const rooms = lists
        .flatMap((list) => list.rooms)
        .filter(({ room }) => !isDirectRoom(room) && roomAllowed(identity.rooms, room) && (only ?? room) === room)
        .sort((a, b) => (b.lastActivity ?? 0) - (a.lastActivity ?? 0))
        .slice(0, ROOMS_MAX);
      const search = (name: string): Promise<SearchAnswer | undefined> =>
        roomRpc(name)
          .ask(SEARCH.name, caller, { ...bounds, mentions: caller.user })
          .catch(() => undefined);
      const answers = await Promise.all(rooms.map(({ room }) => search(room)));
      const found = answers.flatMap((answer): readonly FoundMessage[] =>
        answer && "ok" in answer ? answer.messages : [],
      );
      const messages = found.sort((a, b) => b.timestamp - a.timestamp).slice(0, bounds.limit);
      // A room may stop earlier than its page is full: what comes after that is missing among the older ones of other rooms.
      const isWhole = (answer?: SearchAnswer): boolean =>
        answer !== undefined && "ok" in answer && (!answer.hasMore || answer.messages.length >= bounds.limit);
      return Response.json({ ok: true, messages, isComplete: answers.every(isWhole) });
    },
  }),
];
