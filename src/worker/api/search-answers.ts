// What the HTTP API answers a search with, as a schema.
import { z } from "zod";

import type { FoundMessage } from "../../protocol/search-events.ts";
import { count, message, ok } from "./answers.ts";

const foundMessage = z
  .object({
    ...message.shape,
    matches: z
      .array(z.tuple([count, count]))
      .describe("What was found of the words: positions in `content` in UTF-16 units, the second one exclusive"),
  })
  .meta({ id: "FoundMessage" }) satisfies z.ZodType<FoundMessage>;

export const found = z.object({
  ok,
  messages: z.array(foundMessage).describe("Newest first"),
  hasMore: z.boolean().describe("Whether there are older messages that have not been looked at"),
  before: count.describe("Everything from this seq on has been looked at"),
});
