// What the calls about a single message answer with.
import { z } from "zod";

import type { Version } from "../../protocol/changes-events.ts";
import { atMs, message, ok, reactions } from "./answers.ts";

const version = z
  .object({
    content: z.string(),
    timestamp: atMs("From when on it said so"),
    by: z.string().describe("The user id of who wrote it"),
  })
  .meta({ id: "Version" }) satisfies z.ZodType<Version>;

export const oneMessage = z.object({ ok, message });
export const edited = z.object({ ok, editedAt: atMs("When it was edited") });
const cut = (what: string) => z.exactOptional(z.literal(true)).describe(what);

export const versions = z.object({
  ok,
  versions: z.array(version).describe("The oldest first, the present one last"),
  hasMore: cut("Older ones do not fit in the answer"),
});
export const allReactions = z.object({ ok, reactions, hasMore: cut("Not all users fit in the answer") });
