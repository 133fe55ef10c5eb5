// The HTTP calls that search a room (SRCH-1), and a user's rooms for mentions of them (SRCH-10) and for words (SRCH-11): they ask the rooms for the
// event `search`.
import * as z from "zod/mini";

import { isDirectRoom } from "../../protocol/direct-name.ts";
import {
  foundMessageSchema,
  SEARCH,
  type FoundMessage,
  type SearchAnswer,
  type SearchPayload,
} from "../../protocol/events/search.ts";
import { SEARCH_LIMIT_MAX } from "../../protocol/limits.ts";
import { failedInSchema, foundInSchema, type FoundIn } from "../../protocol/schemas/found-in.ts";
import { limitOf } from "../../protocol/schemas/fields.ts";
import { ROOM_NAME } from "../../protocol/room-name.ts";
import { refuse } from "../../protocol/refuse.ts";
import { described } from "../../protocol/schemas/described.ts";
import { lobbiesOf } from "../../rpc/lobby.ts";
import { refuseWithout } from "../../worker/http/refusals.ts";
import { actingAsUser, EVERYONE, STAFF } from "../../worker/api/access.ts";
import { answering, call, room, type ApiCall, type ApiRequest } from "../../worker/api/call.ts";
import { respondPage } from "../../worker/api/pages.ts";
import { asking, respond } from "../../worker/api/responses.ts";
import { queryOf } from "./searching.ts";

/** Rooms that one call asks, those with the newest messages: each may have to wake. */
const ROOMS_MAX = 20;
/** Messages of each room, unless the caller wants more. */
const FOUND_DEFAULT = 5;

const NAME = ROOM_NAME.source.slice(1, -1);
const ROOM_NAMES = new RegExp(`^${NAME}(?:,${NAME}){0,${ROOMS_MAX - 1}}$`);

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
    run: async (request) => {
      const { room: only, as: _as, ...bounds } = request.given;
      const own = await ownRooms(request);
      if (!own) return refuseWithout("LOBBY");
      const rooms = own.filter((room) => !isDirectRoom(room) && (only ?? room) === room).slice(0, ROOMS_MAX);
      const answers = await Promise.all(
        rooms.map((room) => searchIn(room, request, { ...bounds, mentions: request.caller.user })),
      );
      const found = answers.flatMap((answer): readonly FoundMessage[] =>
        answer && "ok" in answer ? answer.messages : [],
      );
      const messages = found.sort((a, b) => b.timestamp - a.timestamp).slice(0, bounds.limit);
      // A room may stop earlier than its page is full: what comes after that is missing among the older ones of other rooms.
      const isWhole = (answer: SearchAnswer): boolean =>
        "ok" in answer && (!answer.hasMore || answer.messages.length >= bounds.limit);
      return Response.json({ ok: true, messages, isComplete: answers.every(isWhole) });
    },
  }),
  call({
    id: "searchOwnRooms",
    method: "get",
    path: "/api/search",
    summary: "Find messages in one's own rooms",
    description:
      `Asks the user's own rooms, ${ROOMS_MAX} at most, for messages as \`searchMessages\` finds them, so it may wake them. A room that ` +
      "cannot be searched has an `error` in its place. Rooms between two people are left out where a service acts for one of them.",
    roles: EVERYONE,
    given: z.object({
      query: SEARCH.schema.shape.query,
      from: SEARCH.schema.shape.from,
      mentions: SEARCH.schema.shape.mentions,
      beforeTime: SEARCH.schema.shape.beforeTime,
      afterTime: SEARCH.schema.shape.afterTime,
      before: SEARCH.schema.shape.before.apply(described, "In one of `rooms`: goes on from its answer of that name"),
      limit: limitOf({ byDefault: FOUND_DEFAULT, max: SEARCH_LIMIT_MAX }),
      rooms: z
        .optional(z.string().check(z.regex(ROOM_NAMES)))
        .apply(
          described,
          `In these alone, ${ROOMS_MAX} at most, with commas between; otherwise in those with the newest messages`,
        ),
      as: z.optional(actingAsUser),
    }),
    answers: {
      200: {
        description: "What each room found, in the order of `rooms`, or the room with the newest message first",
        schema: answering(z.object({ rooms: z.array(z.union([foundInSchema, failedInSchema])) })),
      },
    },
    run: async (request) => {
      const { rooms: names, as, ...sought } = request.given;
      // Otherwise each of the rooms would wake to say so.
      const query = queryOf(sought);
      if ("error" in query) return respond(query);
      const all = await ownRooms(request);
      if (!all) return refuseWithout("LOBBY");
      // DM-3.
      const own = all.filter((room) => as === undefined || !isDirectRoom(room));
      const find = async (room: string): Promise<FoundIn> => {
        const isOwn = own.includes(room);
        const answer = isOwn
          ? await searchIn(room, request, sought)
          : refuse("NOT_FOUND", "Not one of the user's rooms");
        if ("error" in answer) return { room, error: answer.error };
        const { messages, hasMore, before } = answer;
        return { room, messages, hasMore, before };
      };
      const rooms = await Promise.all((names?.split(",") ?? own.slice(0, ROOMS_MAX)).map(find));
      return Response.json({ ok: true, rooms });
    },
  }),
];

type Asked = Pick<ApiRequest<object>, "identity" | "caller" | "env" | "deployment" | "roomRpc">;

/** The rooms of the caller that the token opens, the newest message first. @returns nothing without a lobby */
async function ownRooms({ identity, caller, env, deployment }: Asked): Promise<string[] | undefined> {
  if (!env.LOBBY) return undefined;
  const lobbies = lobbiesOf(env.LOBBY, deployment.settings.lobbies);
  const lists = await Promise.all(
    lobbies.map((lobby) => lobby.joined(caller.user, { waitMs: 0, opened: identity.rooms })),
  );
  return lists
    .flatMap((list) => list.rooms)
    .sort((a, b) => (b.lastActivity ?? 0) - (a.lastActivity ?? 0))
    .map(({ room }) => room);
}

/** Never rejects: other rooms may answer. */
const searchIn = (room: string, { caller, roomRpc }: Asked, sought: SearchPayload): Promise<SearchAnswer> =>
  roomRpc(room)
    .ask(SEARCH.name, caller, sought)
    .catch(() => refuse("INTERNAL", "The room did not answer."));
