// Schemas of messages, of posting them, and of pages of history.
import * as z from "zod/mini";

import { CLIENT_MSG_ID_LENGTH_MAX, HISTORY_LIMIT_DEFAULT, HISTORY_LIMIT_MAX } from "../limits.ts";
import { atMs, content, count, limitOf, messageId, type Given, type Sent } from "./fields.ts";
import { attachmentSchema, uploadedSchema } from "./files.ts";
import { described, named } from "./described.ts";

export const reactionSchema = z.object({
  emoji: z.string(),
  count,
  users: z.array(z.string()).apply(described, "The first ones, where there are many"),
});

/** One emoji below a message, as messages carry it. */
export type ReactionSummary = Sent<typeof reactionSchema>;

export const reactionsSchema = z.array(reactionSchema).apply(described, "In the order in which the emoji came");

export const originSchema = z.object({ room: z.string(), seq: count });

/** A place in a room. */
export type Origin = Sent<typeof originSchema>;

export const messageSchema = z
  .object({
    id: z.string().apply(described, "Opaque, unique everywhere"),
    seq: count.apply(described, "Rises by exactly 1 per message of the room"),
    room: z.string(),
    sender: z.string().apply(described, "The user id of the author"),
    name: z.string().apply(described, "The author's name when it was posted"),
    content: z.string(),
    timestamp: atMs("When it was posted"),
    clientMsgId: z.exactOptional(z.string()),
    replyTo: z.exactOptional(z.string()).apply(described, "The id of the message that this one answers"),
    editedAt: z.exactOptional(atMs("When it was last edited")),
    editedBy: z.exactOptional(z.string()).apply(described, "Who edited it last, if not the author"),
    deleted: z.exactOptional(z.literal(true)).apply(described, "Nothing but its place is left of it"),
    deletedBy: z.exactOptional(z.string()).apply(described, "Who deleted it, if not the author"),
    reactions: z.exactOptional(reactionsSchema),
    mentions: z.exactOptional(z.array(z.string())).apply(described, "User ids that its content speaks to as `@user`"),
    attachment: z.exactOptional(uploadedSchema.shape.attachment),
    origin: z.exactOptional(originSchema).apply(described, "Of a mirrored message: where it began"),
  })
  .apply(named, "Message");

/** One message of a room. */
export type Message = Sent<typeof messageSchema>;

export const postSchema = z.object({
  content,
  clientMsgId: z.optional(z.string().check(z.minLength(1), z.maxLength(CLIENT_MSG_ID_LENGTH_MAX))),
  replyTo: z.optional(messageId),
  attachment: z.optional(attachmentSchema),
});

/** `clientMsgId` makes sending again safe. */
export type PostPayload = Given<typeof postSchema>;

export const postedSchema = z.object({
  id: z.string(),
  seq: count,
  timestamp: atMs("When it was posted"),
  duplicate: z.exactOptional(z.literal(true)).apply(described, "The message had been stored before"),
});

const bound = z.int().check(z.minimum(0));

const bounds = {
  before: z.optional(bound),
  after: z.optional(bound),
  around: z.optional(bound),
  beforeTime: z.optional(bound),
  afterTime: z.optional(bound),
};

type Bounds = { readonly [Name in keyof typeof bounds]?: unknown };

/** The check of a request for history. */
export const oneBound = z.refine<Bounds>(
  (given) => Object.keys(bounds).filter((name) => given[name as keyof Bounds] !== undefined).length <= 1,
  "give one of before, after, around, beforeTime and afterTime, not several",
);

export const historySchema = z
  .object({ ...bounds, limit: limitOf({ byDefault: HISTORY_LIMIT_DEFAULT, max: HISTORY_LIMIT_MAX }) })
  .check(oneBound);

/**
 * At most one of these bounds, all of them exclusive; without any the newest messages. `before` and `after` are of `seq`,
 * `beforeTime` and `afterTime` of `timestamp`; `around` is the `seq` in the middle.
 */
export type HistoryPayload = Given<typeof historySchema>;

export const pageSchema = z.object({
  messages: z.array(messageSchema).apply(described, "Ascending by seq"),
  hasMore: z.boolean().apply(described, "Whether there are more in that direction"),
  hasMoreAfter: z.exactOptional(z.boolean()).apply(described, "Whether there are newer ones, with `around`"),
});
