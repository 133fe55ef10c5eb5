// What the calls about announcements answer with.
import { z } from "zod";

import type { AnnounceProgress } from "../../protocol/announcement.ts";
import { atMs, count, ok } from "./answers.ts";

export const accepted = z.object({
  ok,
  id: z.string(),
  accepted: count.describe("Rooms, or users, that are addressed; by prefix those that the list has just now"),
  duplicate: z.exactOptional(z.literal(true)).describe("It had been accepted before"),
});

export const progress = z.object({
  ok,
  id: z.string(),
  at: atMs("When it was accepted"),
  accepted: count,
  delivered: count.describe("Rooms where somebody heard it, or users who did"),
  absent: count.describe("Rooms with nobody in them, or users who were nowhere; known once it is done"),
  failed: count.describe("Those that could not be reached: `GET /api/relay/dead` has them"),
  done: z.boolean(),
}) satisfies z.ZodType<AnnounceProgress & { ok: true }>;
