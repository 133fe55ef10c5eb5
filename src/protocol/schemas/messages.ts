// Schemas of messages, of posting them, and of pages of history.
import * as z from "zod";

import { CLIENT_MSG_ID_LENGTH_MAX, HISTORY_LIMIT_DEFAULT, HISTORY_LIMIT_MAX } from "../limits.ts";
import { atMs, content, count, limitOf, messageId, type Given, type Sent } from "./fields.ts";
import { attachmentSchema, uploadedSchema } from "./files.ts";

export const reactionSchema = z.object({
  emoji: z.string(),
  count,
  users: z.array(z.string()).describe("Those who set it first; fewer than `count` where there are many"),
});

/** One emoji below a message, as messages carry it. */
export type ReactionSummary = Sent<typeof reactionSchema>;

export const reactionsSchema = z.array(reactionSchema).describe("In the order in which the emoji came");

export const originSchema = z.object({ room: z.string(), seq: count });

/** A place in a room. */
export type Origin = Sent<typeof originSchema>;

export const messageSchema = z
  .object({
    id: z.string().describe("Opaque, unique everywhere"),
    seq: count.describe("Rises by exactly 1 per message of the room"),
    room: z.string(),
    sender: z.string().describe("The user id of the author"),
    name: z.string().describe("The author's display name when the message was posted"),
    content: z.string(),
    timestamp: atMs("When it was posted"),
    clientMsgId: z.exactOptional(z.string()),
    replyTo: z.exactOptional(z.string()).describe("The id of the message that this one answers"),
    editedAt: z.exactOptional(atMs("When it was last edited")),
    editedBy: z.exactOptional(z.string()).describe("Who edited it last, where that is not the author"),
    deleted: z.exactOptional(z.literal(true)).describe("Nothing but its place is left of it"),
    deletedBy: z.exactOptional(z.string()).describe("Who deleted it, where that is not the author"),
    reactions: z.exactOptional(reactionsSchema),
    mentions: z.exactOptional(z.array(z.string())).describe("User ids that its content speaks to as `@user`"),
    attachment: z.exactOptional(uploadedSchema.shape.attachment),
    origin: z.exactOptional(originSchema).describe("Of a mirrored message: where it began"),
  })
  .meta({ id: "Message" });

/** One message of a room. */
export type Message = Sent<typeof messageSchema>;

export const postSchema = z.object({
  content,
  clientMsgId: z.string().min(1).max(CLIENT_MSG_ID_LENGTH_MAX).optional(),
  replyTo: messageId.optional(),
  attachment: attachmentSchema.optional(),
});

/** `clientMsgId` makes sending again safe. */
export type PostPayload = Given<typeof postSchema>;

export const postedSchema = z.object({
  id: z.string(),
  seq: count,
  timestamp: atMs("When it was posted"),
  duplicate: z.exactOptional(z.literal(true)).describe("The message had been stored before"),
});

const bound = z.int().min(0);

export const historySchema = z
  .object({
    before: bound.optional(),
    after: bound.optional(),
    around: bound.optional(),
    beforeTime: bound.optional(),
    afterTime: bound.optional(),
    limit: limitOf({ byDefault: HISTORY_LIMIT_DEFAULT, max: HISTORY_LIMIT_MAX }),
  })
  .refine(
    ({ before, after, around, beforeTime, afterTime }) =>
      [before, after, around, beforeTime, afterTime].filter((bound) => bound !== undefined).length <= 1,
    "give one of before, after, around, beforeTime and afterTime, not several",
  );

/**
 * At most one of these bounds, all of them exclusive; without any the newest messages. `before` and `after` are of `seq`,
 * `beforeTime` and `afterTime` of `timestamp`; `around` is the `seq` in the middle.
 */
export type HistoryPayload = Given<typeof historySchema>;

export const pageSchema = z.object({
  messages: z.array(messageSchema).describe("Ascending by seq"),
  hasMore: z.boolean().describe("Whether there are more in the direction of the query"),
  hasMoreAfter: z.exactOptional(z.boolean()).describe("Whether there are newer ones, where `around` was given"),
});
