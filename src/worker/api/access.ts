// Who may call: the bearer of a token of the right role, for the rooms that the token opens, and not too often:
// API-1.
import type { OutsideCaller } from "../../access/room-door.ts";
import { displayName } from "../../access/tokens.ts";
import type { Identity } from "../../protocol/identity.ts";
import { roomAllowed } from "../../protocol/room-name.ts";
import type { Deployment } from "../deployment.ts";
import { refuseForNow, refuseRequest, refuseStranger } from "../refusals.ts";
import { bearerOf } from "../token-source.ts";
import type { ApiCall } from "./call.ts";

/** @returns who calls, or why not: 401, 429 (API-11), 403 in this order */
export async function identify(
  request: Request,
  { roles }: Pick<ApiCall, "roles">,
  { tokens, apiRequests }: Deployment,
): Promise<Identity | Response> {
  const token = bearerOf(request.headers.get("Authorization"));
  if (token === undefined) return refuseStranger("UNAUTHORIZED", "A token is required: Authorization: Bearer");
  const result = await tokens.verify(token);
  if (!result.ok) return refuseStranger(result.code, result.message);
  const { identity } = result;
  const taking = apiRequests.take(identity.user, Date.now());
  if (!taking.ok) return refuseForNow("RATE_LIMITED", "Rate limit exceeded: too many requests.", taking.retryAfterMs);
  if (roles.includes(identity.role)) return identity;
  return refuseRequest(403, "FORBIDDEN", `This call is for the role ${roles.join(" or ")}`);
}

/** @returns why the token does not open the room, or nothing where it does */
export function refuseRoom({ rooms }: Identity, room: string): Response | undefined {
  if (roomAllowed(rooms, room)) return undefined;
  return refuseRequest(403, "FORBIDDEN_ROOM", `The token does not open room ${room}`);
}

/** @returns who acts: the caller, or the member for whom a service speaks, with no more rights than a member has (API-5) */
export function actorOf(
  identity: Identity,
  as: string | { readonly user: string; readonly name?: string | undefined } | undefined,
): OutsideCaller | Response {
  if (as === undefined) return identity;
  if (identity.role !== "service") {
    return refuseRequest(403, "FORBIDDEN", "Only the role service may act as somebody else");
  }
  const { user, name } = typeof as === "string" ? { user: as, name: undefined } : as;
  return { user, name: displayName(user, name), role: "member" };
}
