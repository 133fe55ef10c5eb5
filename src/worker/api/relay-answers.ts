// What the calls about links and dead letters answer with.
import { z } from "zod";

import type { DeadLetter, FeedInfo, LinkInfo } from "../../protocol/relay-batch.ts";

const ok = z.literal(true);
const count = z.int().min(0);
const atMs = (what: string) => count.describe(`${what}, in milliseconds since 1970`);

const link = z
  .object({
    to: z.string(),
    at: atMs("Since when"),
    seq: count.describe("Messages of this room up to here are handed over"),
    failures: count.describe("Tries in a row that have failed by now"),
  })
  .meta({ id: "Link" }) satisfies z.ZodType<LinkInfo>;

const feed = z.object({
  from: z.string(),
  seq: count.describe("Messages of that room up to here have arrived"),
}) satisfies z.ZodType<FeedInfo>;

export const links = z.object({
  ok,
  links: z.array(link).describe("Rooms that this one passes on to"),
  feeds: z.array(feed).describe("Rooms that have passed on to this one"),
});

const letter = z
  .object({
    id: count,
    at: atMs("When it was given up"),
    from: z.exactOptional(z.string()).describe("The room that passed it on"),
    announcement: z.exactOptional(z.string()).describe("The id of what was announced"),
    to: z.string(),
    messages: count,
    changes: count.describe("Edits and deletions"),
    reason: z.string(),
  })
  .meta({ id: "DeadLetter" }) satisfies z.ZodType<DeadLetter>;

export const letters = z.object({ ok, letters: z.array(letter).describe("The oldest first"), hasMore: z.boolean() });

export const replayed = z.object({
  ok,
  replayed: z.array(count).describe("Ids of those that their rooms have taken; they are dead no more"),
  failed: z.array(z.object({ id: count, reason: z.string() })).describe("Those that stay where they are"),
});
