// Schemas of moderation: the actions with their bounds, and the lists that moderators read. Rules: MOD-1 to MOD-11.
import * as z from "zod/mini";

import {
  MODERATION_PAGE_DEFAULT,
  MODERATION_PAGE_MAX,
  REASON_LENGTH_MAX,
  SANCTION_SECONDS_MAX,
  SLOW_MODE_SECONDS_MAX,
} from "../limits.ts";
import { atMs, limitOf, textOf, userId as user, type Given, type Sent } from "./fields.ts";
import { described, named } from "./described.ts";

export const grantedRoleSchema = z.literal(["member", "moderator", "reader"]);

/** A role that a room can give to a user, besides the token's role. */
export type GrantedRole = Sent<typeof grantedRoleSchema>;

const reason = z.optional(textOf(REASON_LENGTH_MAX));
const seconds = z.int().check(z.minimum(1), z.maximum(SANCTION_SECONDS_MAX));
const limit = limitOf({ byDefault: MODERATION_PAGE_DEFAULT, max: MODERATION_PAGE_MAX });

export const userSchema = z.object({ user });
export const kickSchema = z.object({ user, reason });
/** Without `seconds` it is for good. */
export const banSchema = z.object({ user, reason, seconds: z.optional(seconds) });
export const muteSchema = z.object({ user, reason, seconds });
export const slowModeSchema = z.object({ seconds: z.int().check(z.minimum(0), z.maximum(SLOW_MODE_SECONDS_MAX)) });
export const readOnlySchema = z.object({ on: z.boolean() });
export const grantSchema = z.object({ user, role: grantedRoleSchema });

/** The payload of each action. */
export const ACTION_SCHEMAS = {
  kick: kickSchema,
  ban: banSchema,
  unban: userSchema,
  mute: muteSchema,
  unmute: userSchema,
  "slow-mode": slowModeSchema,
  "read-only": readOnlySchema,
  grant: grantSchema,
  revoke: userSchema,
} as const;

export type ModerationAction = keyof typeof ACTION_SCHEMAS;
export type ActionPayload<Action extends ModerationAction> = Given<(typeof ACTION_SCHEMAS)[Action]>;

export const auditSchema = z.object({ before: z.optional(z.int().check(z.minimum(1))), limit });
/** Ascending by `number`; `before` is exclusive, without it the newest. */
export type AuditPayload = Given<typeof auditSchema>;

export const moderationStateSchema = z.object({ after: z.optional(user), limit });
/** `after`: the last `user` of the page before. */
export type ModerationStatePayload = Given<typeof moderationStateSchema>;

export const entrySchema = z
  .object({
    number: z.int().check(z.minimum(1)).apply(described, "Its place in the list: 1, 2, 3, …"),
    at: atMs("When it was done"),
    action: z.literal([...(Object.keys(ACTION_SCHEMAS) as ModerationAction[]), "edit-message", "delete-message"]),
    by: z.string().apply(described, "The user id of who did it"),
    user: z.exactOptional(z.string()).apply(described, "The user whom it concerns"),
    until: z.exactOptional(atMs("When a ban or a mute ends")),
    reason: z.exactOptional(z.string()),
    seconds: z
      .exactOptional(z.int().check(z.minimum(0)))
      .apply(described, "How long; of slow mode: from one post to the next"),
    on: z.exactOptional(z.boolean()).apply(described, "Of `read-only`"),
    role: z.exactOptional(grantedRoleSchema).apply(described, "Of `grant`"),
    id: z.exactOptional(z.string()).apply(described, "Of a message of `user` that another edited or deleted"),
    seq: z.exactOptional(z.int().check(z.minimum(1))).apply(described, "Its place"),
  })
  .apply(named, "AuditEntry");

/** A line of the audit list: a moderator's action, or a change of another user's message. */
export type AuditEntry = Sent<typeof entrySchema>;
export type AuditAction = AuditEntry["action"];

/** An action, as all members of the room get it. Its fields depend on the action. */
export type ModerationChange = Omit<AuditEntry, "number" | "at" | "id" | "seq" | "action"> & {
  readonly action: ModerationAction;
};

const decided = {
  by: z.string().apply(described, "The user id of who did it"),
  at: atMs("When it was decided"),
  until: z.exactOptional(atMs("When it ends; without it, never")),
  reason: z.exactOptional(z.string()),
};
export const decisionSchema = z.object(decided).apply(named, "Decision");

/** A ban, a mute or a grant. */
export type Decision = Sent<typeof decisionSchema>;

export const moderatedUserSchema = z
  .object({
    user: z.string(),
    banned: z.exactOptional(decisionSchema),
    muted: z.exactOptional(decisionSchema),
    granted: z.exactOptional(z.object({ ...decided, role: grantedRoleSchema })),
  })
  .apply(named, "ModeratedUser");

/** A user with a ban, a mute or a grant that still holds. */
export type ModeratedUser = Sent<typeof moderatedUserSchema>;

export const auditPageSchema = z.object({
  entries: z.array(entrySchema).apply(described, "Ascending by number"),
  hasMore: z.boolean().apply(described, "Whether there are older ones"),
});

const modes = {
  slowModeSeconds: z.int().check(z.minimum(0)).apply(described, "From one post of a user to the next; 0 for none"),
  readOnly: z.boolean().apply(described, "Whether only moderators may speak"),
};
export const modesSchema = z.object(modes);

/** Limits on when members may post. Moderators need not wait. */
export type RoomModes = Sent<typeof modesSchema>;

export const moderationPageSchema = z.object({
  ...modes,
  users: z.array(moderatedUserSchema).apply(described, "About whom a decision holds"),
  hasMore: z.boolean(),
});
