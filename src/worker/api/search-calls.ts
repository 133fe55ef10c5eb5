// Searching a room over HTTP: the event of the same name (SRCH-1).
import { z } from "zod";

import { searchSchema } from "../../chat/search-payloads.ts";
import type { SearchAnswer } from "../../protocol/search-events.ts";
import { ROOM_NAME } from "../../protocol/room-name.ts";
import { call, type ApiCall } from "./call.ts";
import { respond } from "./responses.ts";
import { found } from "./search-answers.ts";

export const SEARCH_CALLS: readonly ApiCall[] = [
  call({
    id: "searchMessages",
    method: "get",
    path: "/api/rooms/{room}/search",
    summary: "Find messages",
    description:
      'Newest first. `query` is words, all of which a message has to have, a "phrase" in quotes, or `begin*`; `from` is a user id. One ' +
      "of the two is needed. `Link` leads to older ones that have not been looked at; a page may then be short, or empty.",
    roles: ["service", "moderator"],
    given: searchSchema.extend({ room: z.string().regex(ROOM_NAME).describe("A room's name") }),
    answers: {
      200: {
        description: "The page",
        schema: found,
        headers: { Link: 'The next page, `rel="next"`, where there is more to look at' },
      },
    },
    run: async ({ identity, given, url, doorOf }) => {
      const answer = (await doorOf(given.room).ask("search", identity, given)) as SearchAnswer;
      return respond(answer, (page) => Response.json(page, { headers: linkToNext(url, page) }));
    },
  }),
];

/** API-7. */
function linkToNext(url: URL, { hasMore, before }: Extract<SearchAnswer, { ok: true }>): Record<string, string> {
  if (!hasMore) return {};
  const query = new URLSearchParams(url.searchParams);
  query.set("before", String(before));
  return { Link: `<${url.pathname}?${query.toString()}>; rel="next"` };
}
