// What the HTTP API answers with, as schemas: they describe, and the tests hold answers to them. The types that they
// must agree with are the protocol's own.
import { z } from "zod";

import { attachmentSchema } from "../../protocol/schemas/files-payloads.ts";
import type { Member, Message, RoomOverview } from "../../protocol/chat-events.ts";

export const ok = z.literal(true);
export const count = z.int().min(0);
export const atMs = (what: string) => count.describe(`${what}, in milliseconds since 1970`);

export const reactions = z
  .array(
    z.object({
      emoji: z.string(),
      count,
      users: z.array(z.string()).describe("Those who set it first; fewer than `count` where there are many"),
    }),
  )
  .describe("In the order in which the emoji came");

export const attachment = attachmentSchema.meta({ id: "Attachment" });

export const message = z
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
    reactions: z.exactOptional(reactions),
    mentions: z.exactOptional(z.array(z.string())).describe("User ids that its content speaks to as `@user`"),
    attachment: z.exactOptional(attachment),
    origin: z
      .exactOptional(z.object({ room: z.string(), seq: count }))
      .describe("Of a mirrored message: where it began"),
  })
  .meta({ id: "Message" }) satisfies z.ZodType<Message>;

const member = z
  .object({
    user: z.string(),
    name: z.string(),
    connections: count,
    since: atMs("Since when the member is here"),
    role: z
      .exactOptional(z.enum(["member", "moderator", "reader", "service"]))
      .describe("What the member may do here, where that is not what a plain member may"),
    granted: z.exactOptional(z.literal(true)).describe("The room itself gave that role"),
  })
  .meta({ id: "Member" }) satisfies z.ZodType<Member>;

export const overview = z.object({
  room: z.string(),
  members: count.describe("People, not connections"),
  lastSeq: count.describe("The seq of the newest message, 0 in an empty room"),
  lastActivity: count.nullable().describe("When the newest message was posted, in milliseconds since 1970"),
}) satisfies z.ZodType<RoomOverview>;

export const done = z.object({ ok });
export const room = z.object({ ok, ...overview.shape });
export const posted = z.object({
  ok,
  id: z.string(),
  seq: count,
  timestamp: atMs("When it was posted"),
  duplicate: z.exactOptional(z.literal(true)).describe("The message had been stored before"),
});
export const messages = z.object({
  ok,
  messages: z.array(message).describe("Ascending by seq"),
  hasMore: z.boolean().describe("Whether there are more in the direction of the query"),
  hasMoreAfter: z.exactOptional(z.boolean()).describe("Whether there are newer ones, where `around` was given"),
});
export const members = z.object({ ok, count, members: z.array(member) });
export const uploaded = z.object({ ok, attachment });
export const guest = z.object({ token: z.string(), user: z.string(), name: z.string() });

export const refusal = z
  .object({
    error: z.object({
      code: z.string().describe("For programs: one of a closed list"),
      message: z.string().describe("For people"),
      retryAfterMs: z.exactOptional(count).describe("When a retry may help"),
      issues: z
        .exactOptional(z.array(z.object({ path: z.string(), message: z.string() })))
        .describe("Each field that was wrong, and how"),
    }),
  })
  .meta({ id: "Refusal" });
