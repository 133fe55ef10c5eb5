// Schemas of edits, deletions and reactions.
import * as z from "zod/mini";

import { EMOJI_LENGTH_MAX, HISTORY_LIMIT_DEFAULT, HISTORY_LIMIT_MAX } from "../limits.ts";
import { canonicalEmoji } from "../text/characters.ts";
import { atMs, content, limitOf, messageId as id, type Given, type Sent } from "./fields.ts";
import { described, named } from "./described.ts";

/** One emoji as Unicode's UTS 51 calls a possible one, so that those of its later versions pass, or the name of one that the client draws. */
const EMOJI =
  /^([\w:+-]+|(\p{RI}{2}|[0-9#*]\uFE0F?\u20E3|\p{ExtPict}[\uFE0E\uFE0F]?\p{EMod}?([\u{E0020}-\u{E007E}]+\u{E007F})?)(\u200D\p{ExtPict}[\uFE0E\uFE0F]?\p{EMod}?)*)$/u;

const EMOJI_WANTED = "must be one emoji, or a name such as :party:";

const emoji = z.string().check(
  z.overwrite(canonicalEmoji),
  z.minLength(1),
  z.maxLength(EMOJI_LENGTH_MAX),
  // As much as every language's expressions can say: this one stands in the HTTP API's document.
  // oxlint-disable-next-line no-control-regex -- control characters are what it keeps out
  z.regex(/^[^\x00-\x20]+$/, EMOJI_WANTED),
  z.refine((text) => EMOJI.test(text), EMOJI_WANTED),
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
