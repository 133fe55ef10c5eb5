// Checks the caller of the HTTP API: a token of the right role, the rooms that it opens, and the rate limit (API-1). Called by routes.ts.
import type { RoomRpc } from "../../rpc/room.ts";
import type { Identity } from "../../protocol/identity.ts";
import { isDirectRoom } from "../../protocol/direct-name.ts";
import { roomAllowed } from "../../protocol/room-name.ts";
import type { Deployment } from "../deployment.ts";
import { refuseForNow, refuseRequest, refuseUnauthenticated, refuseToken } from "../http/refusals.ts";
import { bearerOf } from "../http/token-source.ts";
import type { ApiCall } from "./call.ts";
import { respond } from "./responses.ts";

/** @returns who calls, or why not: 401, 429 (API-11), 403 in this order */
export async function identify(
  request: Request,
  call: Pick<ApiCall, "roles" | "path">,
  { tokens, apiRequests }: Deployment,
): Promise<Identity | Response> {
  const token = bearerOf(request.headers.get("Authorization"));
  if (token === undefined) return refuseUnauthenticated("UNAUTHORIZED", "A token is required: Authorization: Bearer");
  const result = await tokens.verify(token);
  if (!result.ok) return refuseToken(result);
  const { identity } = result;
  const taking = apiRequests.take(identity.user, Date.now());
  if (!taking.ok) return refuseForNow("RATE_LIMITED", "Rate limit exceeded: too many requests.", taking.retryAfterMs);
  if (call.roles.includes(identity.role) || isForRoomStaff(call)) return identity;
  return refuseRole(call);
}

export function refuseRole({ roles }: Pick<ApiCall, "roles">): Response {
  return refuseRequest("FORBIDDEN", `This call is for the role ${roles.join(" or ")}`);
}

/** Tells calls for moderators of one room: the room itself knows who they are. */
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
