// What the calls about all rooms answer with.
import { z } from "zod";

import { ok, overview } from "./answers.ts";

export const rooms = z.object({
  ok,
  rooms: z.array(overview.meta({ id: "Room" })).describe("As they last said, a minute ago at most where they are busy"),
  hasMore: z.boolean(),
});

export const drained = z.object({
  ok,
  rooms: z.array(z.object({ room: z.string(), connections: z.int().min(0).describe("Those that were closed") })),
  failed: z.exactOptional(z.array(z.string())).describe("Rooms that could not be reached; ask again for these"),
  hasMore: z.exactOptional(z.literal(true)).describe("There are more than one call drains; ask again with `after`"),
  after: z.exactOptional(z.string()).describe("The last room of this call, where there are more"),
});
