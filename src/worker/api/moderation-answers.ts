// What the calls of moderation answer with.
import { z } from "zod";

import type { AuditEntry, Decision, ModeratedUser } from "../../protocol/moderation-events.ts";
import { atMs, ok } from "./answers.ts";

const by = z.string().describe("The user id of who did it");
const role = z.enum(["member", "moderator", "reader"]);

const entry = z
  .object({
    number: z.int().min(1).describe("Its place in the list: 1, 2, 3, …"),
    at: atMs("When it was done"),
    action: z.enum([
      "kick",
      "ban",
      "unban",
      "mute",
      "unmute",
      "slow-mode",
      "read-only",
      "grant",
      "revoke",
      "edit-message",
      "delete-message",
    ]),
    by,
    user: z.exactOptional(z.string()).describe("The user whom it concerns"),
    until: z.exactOptional(atMs("When a ban or a mute ends")),
    reason: z.exactOptional(z.string()),
    seconds: z.exactOptional(z.int().min(0)).describe("How long it lasts; of slow mode: from one post to the next"),
    on: z.exactOptional(z.boolean()).describe("Of `read-only`"),
    role: z.exactOptional(role).describe("Of `grant`"),
    id: z
      .exactOptional(z.string())
      .describe("Of a message that `user` had written, and somebody else edited or deleted"),
    seq: z.exactOptional(z.int().min(1)).describe("Its place"),
  })
  .meta({ id: "AuditEntry" }) satisfies z.ZodType<AuditEntry>;

const decided = {
  by,
  at: atMs("When it was decided"),
  until: z.exactOptional(atMs("When it ends; without it, never")),
  reason: z.exactOptional(z.string()),
};
const decision = z.object(decided).meta({ id: "Decision" }) satisfies z.ZodType<Decision>;

const moderatedUser = z
  .object({
    user: z.string(),
    banned: z.exactOptional(decision),
    muted: z.exactOptional(decision),
    granted: z.exactOptional(z.object({ ...decided, role })),
  })
  .meta({ id: "ModeratedUser" }) satisfies z.ZodType<ModeratedUser>;

export const audit = z.object({
  ok,
  entries: z.array(entry).describe("Ascending by number"),
  hasMore: z.boolean().describe("Whether there are older ones"),
});

export const state = z.object({
  ok,
  slowModeSeconds: z.int().min(0).describe("From one post of a user to the next; 0 for none"),
  readOnly: z.boolean().describe("Whether only moderators may speak"),
  users: z.array(moderatedUser).describe("About whom something was decided that still holds"),
  hasMore: z.boolean(),
});
