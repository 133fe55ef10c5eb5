// What the HTTP API answers a search with, as a schema.
import { z } from "zod";

import type { FoundMessage } from "../../protocol/search-events.ts";
import { message } from "./answers.ts";

const position = z.int().min(0);

const foundMessage = z
  .object({
    ...message.shape,
    matches: z
      .array(z.tuple([position, position]))
      .describe("What was found of the words: positions in `content` in UTF-16 units, the second one exclusive"),
  })
  .meta({ id: "FoundMessage" }) satisfies z.ZodType<FoundMessage>;

export const found = z.object({
  ok: z.literal(true),
  messages: z.array(foundMessage).describe("Newest first"),
  hasMore: z.boolean().describe("Whether there are older messages that have not been looked at"),
  before: position.describe("Everything from this seq on has been looked at"),
});
