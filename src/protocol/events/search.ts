// The event that searches a room (SRCH-1). Its handler: src/features/search/searching.ts.
import * as z from "zod/mini";

import { QUERY_LENGTH_MAX, SEARCH_LIMIT_DEFAULT, SEARCH_LIMIT_MAX } from "../limits.ts";
import { defineEvent, type AnswerOf } from "../event.ts";
import { count, limitOf, userId, type Given, type Sent } from "../schemas/fields.ts";
import { messageSchema } from "../schemas/messages.ts";
import { described, named } from "../schemas/described.ts";

const bound = z.int().check(z.minimum(0));

/** UTF-16 positions in `content`: the first of the found text, and the one after its last. */
export type MatchRange = readonly [from: number, to: number];

const rangeSchema = z.tuple([count, count]);

export const foundMessageSchema = z
  .object({
    ...messageSchema.shape,
    matches: z.array(rangeSchema).apply(described, "Found words in `content`: from, to (exclusive), in UTF-16 units"),
  })
  .apply(named, "FoundMessage");

/** `matches`: ascending, the first ones of many; empty where neither `query` nor `mentions` gave words. */
export type FoundMessage = Sent<typeof foundMessageSchema>;

export const SEARCH = defineEvent({
  name: "search",
  schema: z.object({
    query: z.optional(z.string().check(z.maxLength(QUERY_LENGTH_MAX))),
    from: z.optional(userId),
    mentions: z.optional(userId),
    beforeTime: z.optional(bound),
    afterTime: z.optional(bound),
    before: z.optional(bound),
    limit: limitOf({ byDefault: SEARCH_LIMIT_DEFAULT, max: SEARCH_LIMIT_MAX }),
  }),
  good: z.object({
    messages: z.array(foundMessageSchema).apply(described, "Newest first"),
    hasMore: z.boolean().apply(described, "Whether older messages have not been looked at"),
    before: count.apply(described, "Everything from this seq on has been looked at"),
  }),
  cost: 20,
  by: "everyone",
  examples: [{ query: "hello" }, { mentions: "ada" }],
});

/**
 * Messages that meet all of these. `query`: words, all of which a message has to have, `"a phrase"`, `begin*`; may be left out
 * where `from`, the author's user id, or `mentions`, the id of a user whom the message mentions, is given. `beforeTime` and `afterTime` are of `timestamp`; `before` is of `seq`, and
 * goes on from the answer of that name. All of them are exclusive.
 */
export type SearchPayload = Given<typeof SEARCH.schema>;
/**
 * Newest first. `hasMore`: there are older messages that have not been looked at; asking again with `before` goes on with
 * them, and may find none. Also such a page may hold fewer than `limit`.
 */
export type SearchAnswer = AnswerOf<typeof SEARCH>;
