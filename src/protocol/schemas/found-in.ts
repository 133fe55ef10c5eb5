// The schemas of what a search over a user's rooms found in one of them. Rule: SRCH-11. The call of the HTTP API and the client use it.
import * as z from "zod/mini";

import { SEARCH } from "../events/search.ts";
import { described, named } from "./described.ts";
import type { Sent } from "./fields.ts";

const room = z.string();

export const foundInSchema = z.object({ room, ...SEARCH.good.shape }).apply(named, "FoundInRoom");

export const failedInSchema = z.object({
  room,
  error: z
    .object({ code: z.string(), message: z.string(), retryAfterMs: z.exactOptional(z.int()) })
    .apply(described, "Why the room could not be searched"),
});

/** What one room found, the newest message first, or why it could not be searched. */
export type FoundIn = Sent<typeof foundInSchema> | Sent<typeof failedInSchema>;
