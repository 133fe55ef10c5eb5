// The schemas of what clients send. Unknown keys are dropped, so older and richer clients get along.
import { z } from "zod";

import { attachmentSchema } from "./files-payloads.ts";

// Workers forbid code generation; zod would try it once and swallow the refusal.
z.config({ jitless: true });

export const CLIENT_MSG_ID_LENGTH_MAX = 64;
export const MESSAGE_ID_LENGTH_MAX = 128;
export const HISTORY_LIMIT_DEFAULT = 50;
export const HISTORY_LIMIT_MAX = 200;

const seqBound = z.int().min(0);
const timeBound = z.int().min(0);

/** Its length is a setting, and so the room's to judge. */
export const contentSchema = z
  .string()
  .describe("1 to `MAX_CONTENT_LENGTH` characters after trimming; may be empty where the message carries a file");

export const postSchema = z.object({
  content: contentSchema,
  clientMsgId: z.string().min(1).max(CLIENT_MSG_ID_LENGTH_MAX).optional(),
  replyTo: z.string().min(1).max(MESSAGE_ID_LENGTH_MAX).optional(),
  attachment: attachmentSchema.optional(),
});

export const historySchema = z
  .object({
    before: seqBound.optional(),
    after: seqBound.optional(),
    around: seqBound.optional(),
    beforeTime: timeBound.optional(),
    afterTime: timeBound.optional(),
    limit: z.int().min(1).max(HISTORY_LIMIT_MAX).default(HISTORY_LIMIT_DEFAULT),
  })
  .refine(
    ({ before, after, around, beforeTime, afterTime }) =>
      [before, after, around, beforeTime, afterTime].filter((bound) => bound !== undefined).length <= 1,
    "give one of before, after, around, beforeTime and afterTime, not several",
  );

/** Characters to look for a member by. */
export const FIND_LENGTH_MAX = 64;

export const presenceSchema = z.object({
  find: z.string().trim().min(1, "is empty").max(FIND_LENGTH_MAX, `at most ${FIND_LENGTH_MAX} characters`).optional(),
});

export const refreshTokenSchema = z.object({ token: z.string().min(1) });

/** Names every field that was wrong and how, in one line. */
export function describeIssues(error: z.ZodError): string {
  return error.issues
    .map(({ path, message }) => (path.length > 0 ? `${path.join(".")}: ${message}` : message))
    .join("; ");
}
