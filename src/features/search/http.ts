// The HTTP call that searches a room (SRCH-1): it asks the room for the event `search`.
import * as z from "zod/mini";

import { SEARCH } from "../../protocol/events/search.ts";
import { STAFF } from "../../worker/api/access.ts";
import { answering, call, room, type ApiCall } from "../../worker/api/call.ts";
import { respondPage } from "../../worker/api/pages.ts";
import { asking } from "../../worker/api/responses.ts";

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
];
