// Schemas of messages as a room keeps and sends them.
import * as z from "zod/mini";

import { atMs, count, type Sent } from "./fields.ts";
import { uploadedSchema } from "./files.ts";
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
    thread: z
      .exactOptional(z.string())
      .apply(described, "The id of the first message of its thread, if that is not `replyTo`"),
    editedAt: z.exactOptional(atMs("When it was last edited")),
    editedBy: z.exactOptional(z.string()).apply(described, "Who edited it last, if not the author"),
    deleted: z.exactOptional(z.literal(true)).apply(described, "Nothing but its place is left of it"),
    deletedBy: z.exactOptional(z.string()).apply(described, "Who deleted it, if not the author"),
    reactions: z.exactOptional(reactionsSchema),
    mentions: z.exactOptional(z.array(z.string())).apply(described, "User ids that its content speaks to as `@user`"),
    attachment: z.exactOptional(uploadedSchema.shape.attachment).apply(described, "Its file, or the first of several"),
    attachments: z
      .exactOptional(z.array(uploadedSchema.shape.attachment))
      .apply(described, "All its files, if it has several"),
    origin: z.exactOptional(originSchema).apply(described, "Of a mirrored message: where it began"),
  })
  .apply(named, "Message");

/** One message of a room. */
export type Message = Sent<typeof messageSchema>;
