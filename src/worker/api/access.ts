// Checks the caller of the HTTP API: a token of the right role, the rooms that it opens, and the rate limit (API-1), and the user on whose
// behalf a service acts (API-5). Called by routes.ts and by calls.
import * as z from "zod/mini";

import type { OutsideCaller, RoomRpc } from "../../rpc/room.ts";
import { displayName, nameSchema, userSchema } from "../../settings/tokens/claims.ts";
import type { Role } from "../../protocol/chat-events.ts";
import type { Identity } from "../../protocol/identity.ts";
import { isDirectRoom } from "../../protocol/direct-name.ts";
import { roomAllowed } from "../../protocol/room-name.ts";
import type { Deployment } from "../deployment.ts";
import { identityOf } from "../http/identity.ts";
import { refuseForNow, refuseRequest, refuseUnauthenticated } from "../http/refusals.ts";
import { bearerOf } from "../http/token-source.ts";
import { holderOf } from "../http/holder-limit.ts";
import type { ApiCall } from "./call.ts";
import { respond } from "./responses.ts";
import { described } from "../../protocol/schemas/described.ts";
import { ROLES } from "../../protocol/roles.ts";

/** Backends. */
export const SERVICE: readonly Role[] = ["service"];
/** Backends and moderators, by token or by the room's own grant. */
export const STAFF: readonly Role[] = ["service", "moderator"];
/** Users who act for themselves. */
export const MEMBERS: readonly Role[] = ["moderator", "member", "reader"];
export const EVERYONE: readonly Role[] = ROLES;

/** Who comes with a pass: requests count by the network, as those of guests. */
export const NOBODY: Identity = { user: "", name: "", role: "reader", isGuest: true };

/** On whose behalf a service acts. */
export const actingAs = z
  .union([userSchema, z.object({ user: userSchema, name: z.optional(nameSchema) })])
  .apply(described, "The user that the service speaks for: an id, or that and a name");

/** The same where it stands in a query. */
export const actingAsUser = userSchema.apply(
  described,
  "Whom the service speaks for. The room judges as if a member asked",
);

/** @returns the identity of the caller, or the first refusal of 403 for a foreign page, 401, 429 (API-11) and 403 */
export async function identify(
  request: Request,
  call: Pick<ApiCall, "roles" | "path" | "isLinked" | "takesPass">,
  deployment: Deployment,
): Promise<Identity | Response> {
  const token = bearerOf(request.headers.get("Authorization"));
  if (call.takesPass && token === undefined && new URL(request.url).searchParams.has("pass"))
    return refuseTooMany(holderOf(request, NOBODY), deployment) ?? NOBODY;
  const identity = await identityOf(request, { token }, deployment, call.isLinked);
  if (identity === undefined)
    return refuseUnauthenticated("UNAUTHORIZED", "A token is required: Authorization: Bearer");
  if (identity instanceof Response) return identity;
  const refusal = refuseTooMany(identity.user, deployment);
  if (refusal) return refusal;
  if (call.roles.includes(identity.role) || isForRoomStaff(call)) return identity;
  return refuseRole(call);
}

function refuseTooMany(holder: string, { apiRequests }: Deployment): Response | undefined {
  const taking = apiRequests.take(holder, Date.now());
  if (taking.ok) return undefined;
  return refuseForNow("RATE_LIMITED", "Rate limit exceeded: too many requests.", taking.retryAfterMs);
}

export function refuseRole({ roles }: Pick<ApiCall, "roles">): Response {
  return refuseRequest("FORBIDDEN", `This call is for the role ${roles.join(" or ")}`);
}

/** Tells calls for moderators of one room: the room itself knows its moderators. */
function isForRoomStaff({ roles, path }: Pick<ApiCall, "roles" | "path">): boolean {
  return path.includes("{room}") && roles.includes("moderator") && !roles.includes("member");
}

/**
 * Asks the room about the caller: it may have made a member a moderator, or have banned a moderator by token. Asked here for
 * every such call, so that none can forget it.
 */
export async function refuseByRoom(
  { role, user, name }: Identity,
  call: Pick<ApiCall, "roles" | "path">,
  roomRpc: () => RoomRpc,
): Promise<Response | undefined> {
  if (role === "service" || !isForRoomStaff(call)) return undefined;
  const refusal = await roomRpc().refuseStaff({ user, name, role });
  return refusal && respond(refusal);
}

/** @returns why the token does not open the room, or nothing where it does */
export function refuseRoom({ rooms }: Identity, room: string): Response | undefined {
  // DM-3: no call reaches rooms between two people.
  if (isDirectRoom(room)) return refuseRequest("FORBIDDEN_ROOM", `Room ${room} is between two people`);
  if (roomAllowed(rooms, room)) return undefined;
  return refuseRequest("FORBIDDEN_ROOM", `The token does not open room ${room}`);
}

/** A service that acts as a user has the rights of a member (API-5). @returns the caller, or the refusal */
export function callerFor(
  request: Request,
  identity: Identity,
  as: z.output<typeof actingAs> | undefined,
): OutsideCaller | Response {
  if (as === undefined) return identity.isGuest ? { ...identity, guests: holderOf(request, identity) } : identity;
  if (identity.role !== "service") {
    return refuseRequest("FORBIDDEN", "Only the role service may act as another user");
  }
  const { user, name } = typeof as === "string" ? { user: as, name: undefined } : as;
  return { user, name: displayName(user, name), role: "member" };
}
