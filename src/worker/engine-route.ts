// The Engine.IO endpoint: everything that can refuse a connection without its room does so here, and only
// a request that is in order touches a Durable Object.
import { encodeUpgradeFacts, UPGRADE_HEADER, type UpgradeFacts } from "../access/upgrade-header.ts";
import { ENGINE_REVISION } from "../protocol/engine-io.ts";
import type { Identity } from "../protocol/identity.ts";
import { DEFAULT_ROOM, isRoomName, roomAllowed } from "../protocol/room-name.ts";
import type { Deployment, WorkerEnv } from "./deployment.ts";
import { isOriginAllowed } from "./origin.ts";
import { refuseEngine, refuseRequest } from "./refusals.ts";
import { findToken, type FoundToken } from "./token-source.ts";

/** @param roomInPath the room where the address names it; otherwise `?room=` does */
export async function connect(
  request: Request,
  env: WorkerEnv,
  deployment: Deployment,
  roomInPath?: string,
): Promise<Response> {
  const query = new URL(request.url).searchParams;
  const room = roomInPath ?? query.get("room") ?? DEFAULT_ROOM;
  const refusal = refuseByForm(request, query, room) ?? refuseBySource(request, deployment);
  if (refusal) return refusal;
  const found = findToken(request);
  const identity = await identify(found, room, deployment);
  if (identity instanceof Response) return identity;
  return forward(request, env, room, {
    address: addressOf(request),
    query: withoutToken(query),
    ...(identity && { identity }),
    ...(found.subprotocol && { subprotocol: found.subprotocol }),
  });
}

function refuseByForm(request: Request, query: URLSearchParams, room: string): Response | undefined {
  if (!isRoomName(room)) {
    const rule = "1 to 64 characters of A-Z a-z 0-9 _ . - ~, the first a letter or digit";
    return refuseRequest(400, "BAD_ROOM", `Not a room name; it takes ${rule}`);
  }
  if (query.get("transport") !== "websocket") return refuseEngine("unknownTransport");
  if (query.get("EIO") !== ENGINE_REVISION) return refuseEngine("unsupportedRevision");
  if (request.method !== "GET") return refuseEngine("badMethod");
  if (request.headers.get("Upgrade")?.toLowerCase() !== "websocket") {
    return refuseRequest(426, "UPGRADE_REQUIRED", "This address speaks WebSocket only", { Upgrade: "websocket" });
  }
  // A session is opened by its WebSocket here, so none can be continued over another one.
  if (query.has("sid")) return refuseEngine("unknownSid");
  return undefined;
}

function refuseBySource(request: Request, { settings, connectRate }: Deployment): Response | undefined {
  if (!isOriginAllowed(settings.allowedOrigins, request))
    return refuseEngine("forbidden", "this origin is not allowed");
  const waitSeconds = connectRate.take(addressOf(request), Date.now());
  if (waitSeconds === 0) return undefined;
  const message = `At most ${settings.connectRatePerIp} connections a minute from one address`;
  return refuseRequest(429, "TOO_MANY_CONNECTIONS", message, { "Retry-After": String(waitSeconds) });
}

async function identify(
  { token }: FoundToken,
  room: string,
  { settings, tokens }: Deployment,
): Promise<Identity | Response | undefined> {
  if (token === undefined) {
    if (settings.authAt === "connect") return undefined;
    return refuseRequest(401, "UNAUTHORIZED", "A token is required at the upgrade");
  }
  const result = await tokens.verify(token);
  if (!result.ok) return refuseRequest(401, result.code, result.message);
  if (roomAllowed(result.identity.rooms, room)) return result.identity;
  return refuseRequest(403, "FORBIDDEN_ROOM", `The token does not open room ${room}`);
}

/** Tokens end here: the room learns who it is, and keeps no secret. */
function withoutToken(query: URLSearchParams): UpgradeFacts["query"] {
  return Object.fromEntries([...query].filter(([name]) => name !== "token"));
}

function addressOf(request: Request): string {
  return request.headers.get("CF-Connecting-IP") ?? "unknown";
}

function forward(request: Request, env: WorkerEnv, room: string, facts: UpgradeFacts): Promise<Response> {
  const inner = new Request("https://room/websocket", request);
  inner.headers.delete("Authorization");
  inner.headers.delete("Sec-WebSocket-Protocol");
  if (facts.subprotocol) inner.headers.set("Sec-WebSocket-Protocol", facts.subprotocol);
  inner.headers.set(UPGRADE_HEADER, encodeUpgradeFacts(facts));
  return env.CHAT_ROOM.getByName(room).fetch(inner);
}
