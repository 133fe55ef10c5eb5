// The call that searches a room: the event `search` over HTTP (SRCH-1).
import { foundSchema, searchSchema } from "../../../protocol/schemas/search.ts";
import { answering, call, room, type ApiCall } from "../call.ts";
import { STAFF } from "../callers.ts";
import { linkFrom, respond } from "../responses.ts";

export const SEARCH_CALLS: readonly ApiCall[] = [
  call({
    id: "searchMessages",
    method: "get",
    path: "/api/rooms/{room}/search",
    summary: "Find messages",
    description:
      'Newest first. `query` is words, all of which a message has to have, a "phrase" in quotes, or `begin*`; `from` is a user id. One ' +
      "of the two is needed. `Link` leads to older ones that have not been looked at; a page may then be short, or empty.",
    roles: STAFF,
    given: searchSchema.extend({ room }),
    answers: {
      200: {
        description: "The page",
        schema: answering(foundSchema),
        headers: { Link: 'The next page, `rel="next"`, where there is more to look at' },
      },
    },
    run: async ({ identity, given, url, roomRpc }) => {
      const answer = await roomRpc(given.room).ask("search", identity, given);
      return respond(answer, (page) =>
        Response.json(page, { headers: page.hasMore ? linkFrom(url, "before", page.before) : {} }),
      );
    },
  }),
];
