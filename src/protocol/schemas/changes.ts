// Schemas of edits, deletions and reactions.
import * as z from "zod/mini";

import { EMOJI_LENGTH_MAX, HISTORY_LIMIT_DEFAULT, HISTORY_LIMIT_MAX } from "../limits.ts";
import { atMs, content, limitOf, messageId as id, type Given, type Sent } from "./fields.ts";
import { described, named } from "./described.ts";

const emoji = z.string().check(
  z.minLength(1),
  z.maxLength(EMOJI_LENGTH_MAX),
  // As an expression, so that the HTTP API's document can say it.
  // oxlint-disable-next-line no-control-regex -- control characters are what it keeps out
  z.regex(/^[^\s\u0000-\u001F\u007F-\u009F]*$/, "must be one emoji, without spaces"),
  z.refine((text) => text.isWellFormed(), "must be one emoji, without spaces"),
);

/** Names a message by its `id`. */
export const whichMessageSchema = z.object({ id });
export type MessagePayload = Given<typeof whichMessageSchema>;

export const editSchema = z.object({ id, content });
export type EditPayload = Given<typeof editSchema>;

export const reactSchema = z.object({ id, emoji, on: z.boolean() });
/** `on`: the reaction is set; otherwise it is taken back. */
export type ReactPayload = Given<typeof reactSchema>;

export const changesSchema = z.object({
  after: z.int().check(z.minimum(0)),
  limit: limitOf({ byDefault: HISTORY_LIMIT_DEFAULT, max: HISTORY_LIMIT_MAX }),
});
/** `after`: the newest `rev` that the client knows. */
export type ChangesPayload = Given<typeof changesSchema>;

export const versionSchema = z
  .object({
    content: z.string(),
    timestamp: atMs("From when on it said so"),
    by: z.string().apply(described, "The user id of who wrote it"),
  })
  .apply(named, "Version");

/** One of the contents that a message has had. */
export type Version = Sent<typeof versionSchema>;
