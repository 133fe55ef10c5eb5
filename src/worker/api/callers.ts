// Roles that calls are for, and users on whose behalf a service acts: API-1, API-5. Called by calls.
import { z } from "zod";

import type { OutsideCaller } from "../../rpc/room.ts";
import { displayName, nameSchema, userSchema } from "../../settings/tokens/claims.ts";
import type { Role } from "../../protocol/chat-events.ts";
import type { Identity } from "../../protocol/identity.ts";
import { refuseRequest } from "../http/refusals.ts";

/** A product's backend. */
export const SERVICE: readonly Role[] = ["service"];
/** And moderators, by token or by the room's own grant. */
export const STAFF: readonly Role[] = ["service", "moderator"];
/** Users who act for themselves. */
export const MEMBERS: readonly Role[] = ["moderator", "member", "reader"];
export const EVERYONE: readonly Role[] = ["service", "moderator", "member", "reader"];

/** On whose behalf a service acts. */
export const actingAs = z
  .union([userSchema, z.object({ user: userSchema, name: nameSchema.optional() })])
  .describe("Whom the service speaks for: a user id, or that and a display name. The room judges as if a member asked");

/** The same where it stands in a query. */
export const actingAsUser = userSchema.describe("Whom the service speaks for. The room judges as if a member asked");

type As = z.output<typeof actingAs>;

/** A service that acts as a user has the rights of a member (API-5). @returns the caller, or the refusal */
export function callerFor(identity: Identity, as: As | undefined): OutsideCaller | Response {
  if (as === undefined) return identity;
  if (identity.role !== "service") {
    return refuseRequest("FORBIDDEN", "Only the role service may act as somebody else");
  }
  const { user, name } = typeof as === "string" ? { user: as, name: undefined } : as;
  return { user, name: displayName(user, name), role: "member" };
}
