// The Engine.IO endpoint. Makes every check that needs no object, and forwards only good requests to a Durable Object. Called by
// connect.ts for any application, and by the routes of the chat (app.ts).
import { tcpHost } from "../../rpc/tcp-connections.ts";
import { encodeUpgradeFacts, INNER_ORIGIN, UPGRADE_HEADER, type UpgradeFacts } from "../../rpc/upgrade-header.ts";
import { ENGINE_REVISION } from "../../socketio/wire/engine-io.ts";
import { isJavaScriptAgent } from "./recovery-clients.ts";
import { DEFAULT_ROOM, isNamedRoom, isRoomName, NAMED_ROOM_CHARS_MAX } from "../../protocol/room-name.ts";
import { addressOf, isFromBrowser } from "../http/request-origin.ts";
import type { Pages } from "./polling-cors.ts";
import { refuseEngine, refuseRequest, refuseRoomName, withCode } from "../http/refusals.ts";
import { findSubprotocol } from "../http/token-source.ts";
import type { Transport } from "../../protocol/given-options.ts";
import type { ConnectRate } from "./connect-rate.ts";
import type { KnownSessions } from "./known-sessions.ts";

/** The ids that the server gives to sessions, in a shard with its number before it: anything else is unknown without asking. */
const SESSION_ID = /^(?:\d{1,4}~)?[A-Za-z0-9_-]{20}$/;

/** Characters of the id of a session, if the objects may give any. */
const SESSION_ID_CHARS_MAX = 256;

/** The name by which a client asks any object for the extensions. An application has no such name of its own. */
export const EXTENDED_QUERY = "parley-ext";

/** Requests with an unknown session that an address may send per connection that it may open: each wakes a room once after its sleep. */
export const UNKNOWN_SESSIONS_PER_CONNECT = 10;

/** The identity of a client as the Worker passes it to the object. */
export type VouchedIdentity = NonNullable<UpgradeFacts["identity"]>;

/** The parameters of an address that are not Engine.IO's. */
export interface QueryRules {
  /** The server's own names: one of them with the value 1 asks for the extensions (EXT-1). All others are the application's. */
  readonly extended: readonly string[];
  /** Whether the objects get a parameter. All others are left out, as a `token` is that the endpoint checks. */
  readonly keeps: (name: string) => boolean;
  /** Bytes of all of them as the object keeps them, in an attachment of 16 KiB. */
  readonly bytesMax: number;
  /** Whether the client of a longer query is told so in answer to its CONNECT, which it can read, unlike a refused upgrade. */
  readonly refusesAtConnect?: boolean;
}

/** The objects behind an endpoint, and the checks before them. */
export interface EngineEndpoint {
  readonly queryRules: QueryRules;
  /** Absent if the objects see requests as they came, and decide about origins, preflights and credentials. */
  readonly pages?: Pages;
  /** A room may have any name. */
  readonly takesAnyName?: boolean;
  readonly transports: readonly Transport[];
  readonly connectRate: ConnectRate;
  /** Counts requests that name an unknown session. */
  readonly unknownSessions: ConnectRate;
  readonly knownSessions: KnownSessions;
  /**
   * Called for each new connection. Absent if the objects know who their clients are.
   * @param inQuery the token of the address, if it has one
   * @returns the identity of the client, `undefined` for one without, or the answer that refuses the connection
   */
  identify?(
    request: Request,
    room: string,
    inQuery: string | null,
  ): Promise<VouchedIdentity | Response | undefined> | VouchedIdentity | Response | undefined;
  /**
   * Whether the client of a new connection knows recovery. Absent if the objects ask nobody.
   * @param asked what it says in its address
   */
  canRecover?(request: Request, asked: string | undefined): boolean;
  /** The facts about a new connection by which the object may bring it to another one. */
  placement?(request: Request): Pick<UpgradeFacts, "region">;
  /**
   * @param sid the session of the request; absent for a new connection
   * @returns the object for it; `undefined` if there is none, which is answered 404
   */
  object(room: string, sid?: string): Answering | undefined | Promise<Answering | undefined>;
}

/** A stub of an object. */
export interface Answering {
  fetch(request: Request): Promise<Response>;
}

/** @param roomInPath the room where the address names it; otherwise `?room=` does */
export async function answerEngineRequest(
  request: Request,
  endpoint: EngineEndpoint,
  roomInPath?: string,
): Promise<Response> {
  const parameters = parametersOf(request);
  const { keeps } = endpoint.queryRules;
  // The room learns the user's identity, and keeps no secret.
  const query = Object.fromEntries([...parameters].filter(([name]) => keeps(name)));
  const room = roomInPath ?? query["room"] ?? DEFAULT_ROOM;
  const { pages } = endpoint;
  const isForeign = pages?.isForeign(request) ?? false;
  if (pages && request.method === "OPTIONS" && !isForeign) return pages.answerPreflight(request);
  const refusal = refuseByForm(request, query, room, endpoint);
  if (refusal) return pages && !isForeign ? pages.withCors(request, refusal) : refusal;
  if (isForeign) return refuseEngine("forbidden", "this origin is not allowed");
  const { sid } = query;
  const response =
    sid === undefined
      ? await open(request, endpoint, { room, query, token: parameters.get("token") })
      : await goOn(request, endpoint, { room, sid, query });
  return pages && query["transport"] === "polling" ? pages.withCors(request, response) : response;
}

type Query = UpgradeFacts["query"];

/** Not by way of `URL`, which parses the rest as well: that took a tenth of the Worker's time for a connect. */
function parametersOf({ url }: Request): URLSearchParams {
  const at = url.indexOf("?");
  return new URLSearchParams(at < 0 ? "" : url.slice(at));
}

function refuseByForm(
  request: Request,
  query: Query,
  room: string,
  { transports, queryRules, pages, takesAnyName = false }: EngineEndpoint,
): Response | undefined {
  if (!takesAnyName && !isRoomName(room)) return refuseRoomName();
  if (takesAnyName && !isNamedRoom(room))
    return refuseRequest("BAD_ROOM", `A name of 1 to ${NAMED_ROOM_CHARS_MAX} characters`);
  const transport = transports.find((name) => name === query["transport"]);
  if (transport === undefined) return refuseEngine("unknownTransport");
  if (query["EIO"] !== ENGINE_REVISION) return refuseEngine("unsupportedRevision");
  const { sid } = query;
  const isPreflight = !pages && request.method === "OPTIONS" && transport === "polling";
  if (
    request.method !== "GET" &&
    !isPreflight &&
    !(request.method === "POST" && transport === "polling" && sid !== undefined)
  ) {
    return refuseEngine("badMethod");
  }
  const isUpgrade = request.headers.get("Upgrade")?.toLowerCase() === "websocket";
  if (transport === "polling" && isUpgrade) return refuseEngine("badRequest");
  if (transport === "websocket" && !isUpgrade) {
    return refuseRequest("UPGRADE_REQUIRED", "transport=websocket needs a WebSocket upgrade", {
      Upgrade: "websocket",
    });
  }
  if (!queryRules.refusesAtConnect && isTooLong(query, queryRules)) return refuseEngine("badRequest", TOO_LONG);
  const isKnowable = pages ? sid === undefined || SESSION_ID.test(sid) : (sid ?? "").length <= SESSION_ID_CHARS_MAX;
  return isKnowable ? undefined : refuseEngine("unknownSid");
}

const TOO_LONG = "the query is too long";

function isTooLong(query: Query, { bytesMax }: QueryRules): boolean {
  return (
    Object.entries(query)
      .flat()
      .reduce((bytes, text) => bytes + storedBytes(text), 0) > bytesMax
  );
}

/** The kind and the length of a text. */
const TEXT_HEAD_BYTES = 3;

/** A text beyond Latin-1 takes two bytes for each character. */
const storedBytes = (text: string): number => TEXT_HEAD_BYTES + (/[\u0100-\uFFFF]/.test(text) ? 2 : 1) * text.length;

/** Handles a request that names a session. A client that tries one session after another wakes a room each time, and is limited (LIM-2). */
async function goOn(
  request: Request,
  endpoint: EngineEndpoint,
  { room, sid, query }: { room: string; sid: string; query: Query },
): Promise<Response> {
  const { unknownSessions, knownSessions } = endpoint;
  const address = addressOf(request);
  const waitSeconds = knownSessions.has(room, sid) ? 0 : unknownSessions.look(address, Date.now());
  if (waitSeconds > 0) {
    return refuseForNow("Too many unknown sessions", waitSeconds);
  }
  const response = await forward(
    request,
    endpoint,
    { room, query },
    { address, query: {}, sid, ...extensions(query, endpoint) },
  );
  if (response.status === 400) {
    unknownSessions.take(address, Date.now());
    knownSessions.forget(room, sid);
  } else knownSessions.note(room, sid);
  return response;
}

/** Opens a session, once rate, identity and room allow it. */
async function open(
  request: Request,
  endpoint: EngineEndpoint,
  { room, query, token }: { room: string; query: Query; token: string | null },
): Promise<Response> {
  const { connectRate } = endpoint;
  const waitSeconds = connectRate.take(addressOf(request), Date.now());
  if (waitSeconds > 0) {
    return refuseForNow(`At most ${connectRate.perMinute} connections a minute from one address`, waitSeconds);
  }
  const identity = await endpoint.identify?.(request, room, token);
  if (identity instanceof Response) return identity;
  const userAgent = request.headers.get("User-Agent");
  const isLong = isTooLong(query, endpoint.queryRules);
  return forward(
    request,
    endpoint,
    { room, query },
    {
      address: addressOf(request),
      query: isLong ? {} : query,
      refusal: isLong ? { message: `Bad request: ${TOO_LONG}`, data: { code: "TOO_LONG" } } : undefined,
      canRecover: endpoint.canRecover?.(request, query["recovery"]),
      ...extensions(query, endpoint),
      ...endpoint.placement?.(request),
      isJavaScript: isFromBrowser(request) || isJavaScriptAgent(userAgent) || undefined,
      identity,
    },
  );
}

const refuseForNow = (message: string, waitSeconds: number): Response =>
  refuseRequest("TOO_MANY_CONNECTIONS", message, { "Retry-After": String(waitSeconds) });

/** Only a WebSocket carries them (EXT-1). */
function extensions(query: Query, { queryRules }: EngineEndpoint): Pick<UpgradeFacts, "isExtended"> {
  const isAsked = queryRules.extended.some((name) => query[name] === "1");
  return isAsked && query["transport"] === "websocket" ? { isExtended: true } : {};
}

async function forward(
  request: Request,
  endpoint: EngineEndpoint,
  { room, query: { transport } }: { room: string; query: Query },
  facts: UpgradeFacts,
): Promise<Response> {
  const object = await endpoint.object(room, facts.sid);
  if (!object) return refuseRequest("NOT_FOUND", "There is no such room");
  const subprotocol = findSubprotocol(request);
  const tcp = tcpHost()?.of(request);
  const { pages } = endpoint;
  const at = pages ? -1 : request.url.indexOf("?");
  // Of an upgrade there are only headers.
  const inner = new Request(
    `${INNER_ORIGIN}/${transport}${at < 0 ? "" : request.url.slice(at)}`,
    tcp ? { headers: request.headers, signal: tcp.signal } : request,
  );
  if (pages) {
    // A token may be in both.
    inner.headers.delete("Authorization");
    inner.headers.delete("Sec-WebSocket-Protocol");
    if (subprotocol !== undefined) inner.headers.set("Sec-WebSocket-Protocol", subprotocol);
  }
  // The object has the query in the address.
  const asItCame = pages ? {} : { url: request.url.slice(0, at), query: {} };
  inner.headers.set(UPGRADE_HEADER, encodeUpgradeFacts({ ...facts, ...asItCame, subprotocol, tcpId: tcp?.id }));
  const response = await object.fetch(inner);
  // LIM-1, LIM-5: the room's answer has no code for the log and the counters.
  const isFull = response.status === 429 || response.status === 503;
  return isFull ? withCode(response, "TOO_MANY_CONNECTIONS") : response;
}
