// The schemas of what clients send about messages that are there already.
import { z } from "zod";

import { contentSchema, HISTORY_LIMIT_DEFAULT, HISTORY_LIMIT_MAX, MESSAGE_ID_LENGTH_MAX } from "./payloads.ts";

/** UTF-16 units of an emoji: the longest families and flags have fewer, and `:shortcodes:` fit. */
export const EMOJI_LENGTH_MAX = 32;

const id = z.string().min(1).max(MESSAGE_ID_LENGTH_MAX);

const emoji = z
  .string()
  .min(1)
  .max(EMOJI_LENGTH_MAX)
  // As an expression, so that the HTTP API's document can say it.
  // oxlint-disable-next-line no-control-regex -- control characters are what it keeps out
  .regex(/^[^\s\u0000-\u001F\u007F-\u009F]*$/, "must be one emoji, without spaces")
  .refine((text) => text.isWellFormed(), "must be one emoji, without spaces");

export const editSchema = z.object({ id, content: contentSchema });

export const messageSchema = z.object({ id });

export const reactSchema = z.object({ id, emoji, on: z.boolean() });

export const changesSchema = z.object({
  after: z.int().min(0),
  limit: z.int().min(1).max(HISTORY_LIMIT_MAX).default(HISTORY_LIMIT_DEFAULT),
});
