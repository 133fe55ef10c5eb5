// The events of moderators: the actions with their bounds, and the lists that moderators read (MOD-1 to MOD-12). Their handlers:
// src/chat/moderation.
import * as z from "zod/mini";

import {
  MODERATION_PAGE_DEFAULT,
  MODERATION_PAGE_MAX,
  NAME_LENGTH_MAX,
  REASON_LENGTH_MAX,
  SANCTION_SECONDS_MAX,
  SLOW_MODE_SECONDS_MAX,
  TOPIC_LENGTH_MAX,
} from "../limits.ts";
import { normalContent } from "../message.ts";
import { defineEvent, emitted, type AnswerOf, type Callers } from "../event.ts";
import { atMs, limitOf, textOf, userId as user, type Given, type Sent } from "../schemas/fields.ts";
import { described, named } from "../schemas/described.ts";

export const grantedRoleSchema = z.literal(["member", "moderator", "reader"]);

/** A role that a room can give to a user, besides the token's role. */
export type GrantedRole = Sent<typeof grantedRoleSchema>;

const reason = z.optional(textOf(REASON_LENGTH_MAX));
const seconds = z.int().check(z.minimum(1), z.maximum(SANCTION_SECONDS_MAX));
/** One line; empty where nothing can be seen in it. */
const lineOf = (lengthMax: number) =>
  z.string().check(
    z.overwrite((text) => normalContent(text).replaceAll(/\s+/g, " ").trim()),
    z.maxLength(lengthMax, `at most ${lengthMax} characters`),
  );
const limit = limitOf({ byDefault: MODERATION_PAGE_DEFAULT, max: MODERATION_PAGE_MAX });

// ---- actions -----------------------------------------------------------------------------------------------

/** An action for which the moderator has to answer: it enters the audit list, and all hear of it. */
const action = <const Name extends string, Schema extends z.ZodMiniObject>(
  name: Name,
  schema: Schema,
  example: Given<Schema>,
  by: Callers = "moderators",
) =>
  defineEvent({
    name,
    schema,
    by,
    emits: { moderation: emitted<ModerationChange>() },
    examples: [example],
  });

export const KICK = action("kick", z.object({ user, reason }), { user: "ada" });
/** Without `seconds` it is for good. */
export const BAN = action("ban", z.object({ user, reason, seconds: z.optional(seconds) }), {
  user: "ada",
  seconds: 60,
});
export const UNBAN = action("unban", z.object({ user }), { user: "ada" });
export const MUTE = action("mute", z.object({ user, reason, seconds }), { user: "ada", seconds: 1 });
export const UNMUTE = action("unmute", z.object({ user }), { user: "ada" });
export const SLOW_MODE = action(
  "slow-mode",
  z.object({ seconds: z.int().check(z.minimum(0), z.maximum(SLOW_MODE_SECONDS_MAX)) }),
  { seconds: 3600 },
);
export const READ_ONLY = action("read-only", z.object({ on: z.boolean() }), { on: true });
/** Sets the room's name and topic; an empty text takes it away. The room refuses it to most who are no moderators: MOD-12. */
export const DESCRIBE = action(
  "describe",
  z.object({ name: z.optional(lineOf(NAME_LENGTH_MAX)), topic: z.optional(lineOf(TOPIC_LENGTH_MAX)) }),
  { name: "Coffee & code", topic: "What we brew, and what we ship" },
  "speakers",
);
export const GRANT = action("grant", z.object({ user, role: grantedRoleSchema }), { user: "ada", role: "moderator" });
export const REVOKE = action("revoke", z.object({ user }), { user: "ada" });

export const ACTIONS = [KICK, BAN, UNBAN, MUTE, UNMUTE, SLOW_MODE, READ_ONLY, DESCRIBE, GRANT, REVOKE] as const;

export type ModerationAction = (typeof ACTIONS)[number]["name"];
export type ActionPayload<Action extends ModerationAction> = Given<
  Extract<(typeof ACTIONS)[number], { readonly name: Action }>["schema"]
>;

// ---- lists -------------------------------------------------------------------------------------------------

export const entrySchema = z
  .object({
    number: z.int().check(z.minimum(1)).apply(described, "Its place in the list: 1, 2, 3, …"),
    at: atMs("When it was done"),
    action: z.literal([...ACTIONS.map(({ name }) => name), "edit-message", "delete-message"]),
    by: z.string().apply(described, "The user id of who did it"),
    user: z.exactOptional(z.string()).apply(described, "The user whom it concerns"),
    until: z.exactOptional(atMs("When a ban or a mute ends")),
    reason: z.exactOptional(z.string()),
    seconds: z
      .exactOptional(z.int().check(z.minimum(0)))
      .apply(described, "How long; of slow mode: from one post to the next"),
    on: z.exactOptional(z.boolean()).apply(described, "Of `read-only`"),
    name: z.exactOptional(z.string()).apply(described, "Of `describe`: the room's name; empty: it has none any more"),
    topic: z.exactOptional(z.string()).apply(described, "Of `describe`, in the same way"),
    role: z.exactOptional(grantedRoleSchema).apply(described, "Of `grant`"),
    id: z.exactOptional(z.string()).apply(described, "Of a message of `user` that another edited or deleted"),
    seq: z.exactOptional(z.int().check(z.minimum(1))).apply(described, "Its place"),
  })
  .apply(named, "AuditEntry");

/** A line of the audit list: a moderator's action, or a change of another user's message. */
export type AuditEntry = Sent<typeof entrySchema>;
export type AuditAction = AuditEntry["action"];

/** An action, as all members of the room get it. Its fields depend on the action. */
export interface ModerationChange extends Omit<AuditEntry, "number" | "at" | "id" | "seq" | "action"> {
  readonly action: ModerationAction;
}

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

/** A page of a list takes one token for each so many of its lines. */
const LINES_PER_TOKEN = 20;
const costOf = ({ limit }: { readonly limit: number }): number => Math.ceil(limit / LINES_PER_TOKEN);

export const AUDIT = defineEvent({
  name: "audit",
  schema: z.object({ before: z.optional(z.int().check(z.minimum(1))), limit }),
  good: z.object({
    entries: z.array(entrySchema).apply(described, "Ascending by number"),
    hasMore: z.boolean().apply(described, "Whether there are older ones"),
  }),
  cost: costOf,
  by: "moderators",
  examples: [{}],
});

/** Ascending by `number`; `before` is exclusive, without it the newest. */
export type AuditPayload = Given<typeof AUDIT.schema>;
export type AuditAnswer = AnswerOf<typeof AUDIT>;

const modes = {
  slowModeSeconds: z.int().check(z.minimum(0)).apply(described, "From one post of a user to the next; 0 for none"),
  readOnly: z.boolean().apply(described, "Whether only moderators may speak"),
  name: z.exactOptional(z.string()).apply(described, "Shown in place of the room's id, if it has one"),
  topic: z.exactOptional(z.string()).apply(described, "What the room is about, if somebody said so"),
};
export const modesSchema = z.object(modes);

/** How the room is set: limits on when members may post (moderators need not wait), its name and its topic. */
export type RoomModes = Sent<typeof modesSchema>;

export const MODERATION_STATE = defineEvent({
  name: "moderation-state",
  schema: z.object({ after: z.optional(user), limit }),
  good: z.object({
    ...modes,
    users: z.array(moderatedUserSchema).apply(described, "About whom a decision holds"),
    hasMore: z.boolean(),
  }),
  cost: costOf,
  by: "moderators",
  examples: [{}],
});

/** `after`: the last `user` of the page before. */
export type ModerationStatePayload = Given<typeof MODERATION_STATE.schema>;
export type ModerationStateAnswer = AnswerOf<typeof MODERATION_STATE>;

export const MODERATION_EVENTS = [...ACTIONS, AUDIT, MODERATION_STATE] as const;
