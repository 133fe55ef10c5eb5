// The schemas of what moderators send, with their bounds: MOD-11.
import { z } from "zod";

import { REASON_LENGTH_MAX } from "../moderation-events.ts";

export const USER_LENGTH_MAX = 128;
/** Ten years: what is meant for longer is a ban without an end. */
export const SANCTION_SECONDS_MAX = 10 * 365 * 86_400;
/** Six hours. */
export const SLOW_MODE_SECONDS_MAX = 21_600;
export const MODERATION_PAGE_DEFAULT = 50;
export const MODERATION_PAGE_MAX = 200;

const user = z.string().min(1).max(USER_LENGTH_MAX);
const reason = z.string().trim().min(1).max(REASON_LENGTH_MAX).optional();
const seconds = z.int().min(1).max(SANCTION_SECONDS_MAX);
const limit = z.int().min(1).max(MODERATION_PAGE_MAX).default(MODERATION_PAGE_DEFAULT);

export const userSchema = z.object({ user });
export const kickSchema = z.object({ user, reason });
export const banSchema = z.object({ user, reason, seconds: seconds.optional() });
export const muteSchema = z.object({ user, reason, seconds });
export const slowModeSchema = z.object({ seconds: z.int().min(0).max(SLOW_MODE_SECONDS_MAX) });
export const readOnlySchema = z.object({ on: z.boolean() });
export const grantSchema = z.object({ user, role: z.enum(["member", "moderator", "reader"]) });
export const auditSchema = z.object({ before: z.int().min(1).optional(), limit });
export const moderationStateSchema = z.object({ after: user.optional(), limit });
