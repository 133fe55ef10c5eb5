// The Engine.IO endpoint. Makes every check that needs no room, and forwards only good requests to a Durable Object. Called by
// socketio.ts.
import { tcpOf } from "../../rpc/tcp-connections.ts";
import { encodeUpgradeFacts, UPGRADE_HEADER, type UpgradeFacts } from "../../rpc/upgrade-header.ts";
import { ENGINE_REVISION } from "../../socketio/wire/engine-io.ts";
import type { Identity } from "../../protocol/identity.ts";
import { isJavaScriptAgent, knowsRecovery } from "./recovery-clients.ts";
import { DEFAULT_ROOM, isRoomName, roomAllowed } from "../../protocol/room-name.ts";
import type { Objects } from "../../rpc/bindings.ts";
import type { Deployment } from "../deployment.ts";
import { addressOf, isFromBrowser, isOriginAllowed } from "../http/request-origin.ts";
import { answerPreflight, withCors } from "./polling-cors.ts";
import { refuseEngine, refuseRequest, refuseRoomName, withCode } from "../http/refusals.ts";
import { identityOf } from "../http/identity.ts";
import { findSubprotocol, findToken, type FoundToken } from "../http/token-source.ts";

/** The ids that the server gives to sessions: anything else is unknown without asking. */
const SESSION_ID = /^[A-Za-z0-9_-]{20}$/;

/** Characters of a query, without its token: the room keeps it with the session. */
const QUERY_CHARS_MAX = 2048;

/** The binding of any application: its objects need only answer requests. */
interface Rooms {
  readonly CHAT_ROOM: Objects<unknown>;
}

/** @param roomInPath the room where the address names it; otherwise `?room=` does */
export async function connect(
  request: Request,
  env: Rooms,
  deployment: Deployment,
  roomInPath?: string,
): Promise<Response> {
  const parameters = parametersOf(request);
  // Without the token: the room learns the user's identity, and keeps no secret.
  const { token: _token, ...query } = Object.fromEntries(parameters);
  const room = roomInPath ?? query["room"] ?? DEFAULT_ROOM;
  const isForeign = !isOriginAllowed(deployment.settings.allowedOrigins, request);
  if (request.method === "OPTIONS" && !isForeign) return answerPreflight(request);
  const refusal = refuseByForm(request, query, room, deployment);
  if (refusal) return isForeign ? refusal : withCors(request, refusal);
  if (isForeign) return refuseEngine("forbidden", "this origin is not allowed");
  const { sid } = query;
  const response =
    sid === undefined
      ? await open(request, env, { room, query, token: parameters.get("token"), deployment })
      : await goOn(request, env, { room, sid, query, deployment });
  return query["transport"] === "polling" ? withCors(request, response) : response;
}

type Query = UpgradeFacts["query"];

/** Not by way of `URL`, which parses the rest as well: that took a tenth of the Worker's time for a connect. */
function parametersOf({ url }: Request): URLSearchParams {
  const at = url.indexOf("?");
  return new URLSearchParams(at < 0 ? "" : url.slice(at));
}

function refuseByForm(request: Request, query: Query, room: string, { settings }: Deployment): Response | undefined {
  if (!isRoomName(room)) return refuseRoomName();
  const transport = settings.transports.find((name) => name === query["transport"]);
  if (transport === undefined) return refuseEngine("unknownTransport");
  if (query["EIO"] !== ENGINE_REVISION) return refuseEngine("unsupportedRevision");
  const { sid } = query;
  if (request.method !== "GET" && !(request.method === "POST" && transport === "polling" && sid !== undefined)) {
    return refuseEngine("badMethod");
  }
  const isUpgrade = request.headers.get("Upgrade")?.toLowerCase() === "websocket";
  if (transport === "polling" && isUpgrade) return refuseEngine("badRequest");
  if (transport === "websocket" && !isUpgrade) {
    return refuseRequest("UPGRADE_REQUIRED", "transport=websocket needs a WebSocket upgrade", {
      Upgrade: "websocket",
    });
  }
  if (JSON.stringify(query).length > QUERY_CHARS_MAX) return refuseEngine("badRequest", "the query is too long");
  return sid !== undefined && !SESSION_ID.test(sid) ? refuseEngine("unknownSid") : undefined;
}

/** Handles a request that names a session. A client that tries one session after another wakes a room each time, and is limited (LIM-2). */
async function goOn(
  request: Request,
  env: Rooms,
  { room, sid, query, deployment }: { room: string; sid: string; query: Query; deployment: Deployment },
): Promise<Response> {
  const { unknownSessions, knownSessions } = deployment;
  const address = addressOf(request);
  const waitSeconds = knownSessions.has(room, sid) ? 0 : unknownSessions.look(address, Date.now());
  if (waitSeconds > 0) {
    const message = "Too many requests for sessions that are not known";
    return refuseRequest("TOO_MANY_CONNECTIONS", message, { "Retry-After": String(waitSeconds) });
  }
  const response = await forward(request, env, { room, query }, { address, query: {}, sid, ...extensions(query) });
  if (response.status === 400) {
    unknownSessions.take(address, Date.now());
    knownSessions.forget(room, sid);
  } else knownSessions.note(room, sid);
  return response;
}

/** Opens a session, once rate, token and room allow it. */
async function open(
  request: Request,
  env: Rooms,
  { room, query, token, deployment }: { room: string; query: Query; token: string | null; deployment: Deployment },
): Promise<Response> {
  const { settings, connectRate } = deployment;
  const waitSeconds = connectRate.take(addressOf(request), Date.now());
  if (waitSeconds > 0) {
    const message = `At most ${settings.connectRatePerIp} connections a minute from one address`;
    return refuseRequest("TOO_MANY_CONNECTIONS", message, { "Retry-After": String(waitSeconds) });
  }
  const found = findToken(request, token);
  const identity = await identify(request, found, room, deployment);
  if (identity instanceof Response) return identity;
  const userAgent = request.headers.get("User-Agent");
  return forward(
    request,
    env,
    { room, query },
    {
      address: addressOf(request),
      query,
      canRecover: knowsRecovery(query["recovery"] ?? null, userAgent, request.headers.get("Sec-WebSocket-Extensions")),
      ...extensions(query),
      ...((isFromBrowser(request) || isJavaScriptAgent(userAgent)) && { isJavaScript: true }),
      ...(identity && { identity }),
    },
  );
}

async function identify(
  request: Request,
  { token }: FoundToken,
  room: string,
  deployment: Deployment,
): Promise<Identity | Response | undefined> {
  const identity = await identityOf(request, token, deployment);
  if (identity === undefined) {
    if (deployment.settings.authAt === "connect") return undefined;
    return refuseRequest("UNAUTHORIZED", "A token is required at the upgrade");
  }
  if (identity instanceof Response || roomAllowed(identity.rooms, room)) return identity;
  return refuseRequest("FORBIDDEN_ROOM", `The token does not open room ${room}`);
}

/** Only a WebSocket carries them (EXT-1). */
function extensions(query: Query): Pick<UpgradeFacts, "isExtended"> {
  return query["ext"] === "1" && query["transport"] === "websocket" ? { isExtended: true } : {};
}

async function forward(
  request: Request,
  env: Rooms,
  { room, query: { transport } }: { room: string; query: Query },
  facts: UpgradeFacts,
): Promise<Response> {
  const subprotocol = findSubprotocol(request);
  const tcp = tcpOf(request);
  // Of an upgrade there are only headers.
  const inner = new Request(
    `https://room/${transport}`,
    tcp ? { headers: request.headers, signal: tcp.signal } : request,
  );
  inner.headers.delete("Authorization");
  inner.headers.delete("Sec-WebSocket-Protocol");
  if (subprotocol !== undefined) inner.headers.set("Sec-WebSocket-Protocol", subprotocol);
  inner.headers.set(
    UPGRADE_HEADER,
    encodeUpgradeFacts({
      ...facts,
      ...(subprotocol !== undefined && { subprotocol }),
      ...(tcp && { tcpId: tcp.id }),
    }),
  );
  const response = await env.CHAT_ROOM.getByName(room).fetch(inner);
  // LIM-1, LIM-5: what the room says to programs does not come along with its answer.
  const isFull = response.status === 429 || response.status === 503;
  return isFull ? withCode(response, "TOO_MANY_CONNECTIONS") : response;
}
