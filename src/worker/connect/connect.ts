// connect: passes the connections of Socket.IO clients to the objects of any application. Called by Workers; `parley-rooms/socketio`
// exports it.
import { isUnauthenticated, type Unauthenticated } from "../../protocol/identity.ts";
import { readTransports, refuseUnknown, wholeNumber } from "../../protocol/given-options.ts";
import { isOrigin } from "../../http/origin.ts";
import { roomAllowed } from "../../protocol/room-name.ts";
import { logProblem } from "../../settings/log.ts";
import { askHost } from "../http/host-user.ts";
import { refusePassing, refuseRequest, refuseToken } from "../http/refusals.ts";
import { asTrusted, type AllowedOrigins } from "../http/request-origin.ts";
import { findToken } from "../http/token-source.ts";
import { checkBasePath, enginePath } from "./base-path.ts";
import { ConnectRate } from "./connect-rate.ts";
import {
  answerEngineRequest,
  EXTENDED_QUERY,
  UNKNOWN_SESSIONS_PER_CONNECT,
  type Answering,
  type EngineEndpoint,
  type VouchedIdentity,
} from "./engine-endpoint.ts";
import { refuseAddress } from "./no-address.ts";
import { pagesOf } from "./polling-cors.ts";
import { KnownSessions } from "./known-sessions.ts";
import { knowsRecovery } from "./recovery-clients.ts";
import { readUser, type VouchedUser } from "./vouched-user.ts";

export interface ConnectOptions {
  /**
   * The object of a room. A name has 1 to 64 characters of `A-Z a-z 0-9 _ . - ~`, the first a letter or digit, or is what `room` gives; others
   * are refused before.
   * @returns `undefined` if there is no such room, which is answered 404
   */
  readonly object: (room: string) => Answering | null | undefined | Promise<Answering | null | undefined>;
  /**
   * Names the room of a client by other things than its address: a subdomain, a parameter or a path of the application's own. Called for each
   * request of a connection, and must give each time the same text, of 1 to 256 characters of any kind.
   * @returns `undefined` for the room of the address
   */
  readonly room?: ((request: Request) => string | undefined) | undefined;
  /** Where the addresses begin: `/boards` for `/boards/rooms/NAME/socket.io/`. Default: at the root. */
  readonly path?: string | undefined;
  /** Answers requests to other addresses. Default: 404. */
  readonly otherwise?: ((request: Request) => Response | Promise<Response>) | undefined;
  /**
   * Names the user who opens a connection. It must leave the body unread. The namespaces get the user as `identity`.
   * @returns `undefined`, or the reason, for a client that is refused with 401. An error is logged, and answered 500
   */
  readonly authenticate?: Authenticate | undefined;
  /** Pages that may connect, besides those of the Worker's own origin. Default: `same`, no others. Clients that are no pages always may. */
  readonly allowedOrigins?: AllowedOrigins | undefined;
  /** Default: both. */
  readonly transports?: EngineEndpoint["transports"] | undefined;
  /** Connections that one address may open in a minute, in each isolate of the Worker; 0 is no limit. Default: 0. */
  readonly connectsPerMinute?: number | undefined;
}

export type Authenticate = (request: Request, asked: Asked) => Known | Promise<Known>;

type Known = VouchedUser | Unauthenticated | null | undefined;

/** The room that a client asks for, and its token. */
export interface Asked {
  readonly room: string;
  /** Of `Authorization: Bearer`, `?token=` or the subprotocols `bearer, TOKEN`. */
  readonly token?: string | undefined;
}

/** Half of an attachment: 8,000 characters of the application, and Engine.IO's own parameters. */
const QUERY_BYTES_MAX = 8192;

const NAMES: readonly string[] = [
  "object",
  "room",
  "path",
  "otherwise",
  "authenticate",
  "allowedOrigins",
  "transports",
  "connectsPerMinute",
] satisfies Array<keyof ConnectOptions>;

/** @throws Error that names the first option which is wrong; the others are checked where they are read */
function check(options: ConnectOptions): void {
  refuseUnknown("connect", options, NAMES);
  const {
    object,
    room = object,
    otherwise = object,
    authenticate = object,
    allowedOrigins: origins = "same",
  } = options;
  refuseNoFunctions({ object, room, otherwise, authenticate });
  if (origins !== "*" && origins !== "same" && !(Array.isArray(origins) && origins.every(isOrigin)))
    throw new Error('connect: allowedOrigins: must be "*", "same" or a list of origins');
}

/**
 * Answers the requests of Socket.IO clients to `/socket.io/`, with the room in `?room=NAME` (`global` without), and to
 * `/rooms/NAME/socket.io/`. It may be given new options with each call: limits count for all calls together.
 * @throws Error for a bad option, which it names
 */
export async function connect(request: Request, options: ConnectOptions): Promise<Response> {
  check(options);
  const basePath = checkBasePath(options.path ?? "", "connect: path");
  const { pathname } = new URL(request.url);
  const address = pathname.startsWith(`${basePath}/`) ? enginePath(pathname.slice(basePath.length)) : undefined;
  if (address) return answerSafely(request, endpointOf(options), address.room, options.room);
  return options.otherwise?.(request) ?? refuseAddress(pathname);
}

/** @throws Error that names the first option which is no function. Called by stock-connect.ts, too */
export function refuseNoFunctions(options: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(options))
    if (typeof value !== "function") throw new Error(`connect: ${name}: must be a function`);
}

/**
 * Called by stock-connect.ts, too.
 * @param room that of the address, if it names one
 * @param nameRoom the option `room`
 */
export async function answerSafely(
  request: Request,
  endpoint: EngineEndpoint,
  room: string | undefined,
  nameRoom: ((request: Request) => unknown) | undefined,
): Promise<Response> {
  try {
    const named = nameRoom?.(request);
    if (named === undefined) return await answerEngineRequest(request, endpoint, room);
    if (typeof named !== "string") throw new Error("connect: room: must return a text, or undefined");
    return await answerEngineRequest(request, { ...endpoint, takesAnyName: true }, named);
  } catch (error) {
    const refusal = refusePassing(error);
    if (!refusal) throw error;
    logProblem("request.failed", "a request failed", error);
    return refusal;
  }
}

function endpointOf({ object, authenticate, connectsPerMinute = 0, ...given }: ConnectOptions): EngineEndpoint {
  const { allowedOrigins = "same", transports } = given;
  return {
    pages: pagesOf(allowedOrigins),
    transports: readTransports("connect: transports", transports),
    ...ratesOf(wholeNumber("connect: connectsPerMinute", connectsPerMinute, 0)),
    knownSessions,
    // Without `authenticate` a token in the query is the application's.
    queryRules: {
      extended: [EXTENDED_QUERY],
      keeps: (name) => authenticate === undefined || name !== "token",
      bytesMax: QUERY_BYTES_MAX,
      refusesAtConnect: true,
    },
    identify: (request, room, inQuery) =>
      authenticate &&
      identify(asTrusted(allowedOrigins, request), { room, ...findToken(request, inQuery) }, authenticate),
    canRecover: knowsRecovery,
    object: async (room) => (await object(room)) ?? undefined,
  };
}

/** Of all calls in this isolate: each makes its options again. */
export const knownSessions = new KnownSessions();
const rates = new Map<number, Pick<EngineEndpoint, "connectRate" | "unknownSessions">>();

export function ratesOf(perMinute: number): Pick<EngineEndpoint, "connectRate" | "unknownSessions"> {
  const known = rates.get(perMinute);
  if (known) return known;
  const made = {
    connectRate: new ConnectRate(perMinute),
    unknownSessions: new ConnectRate(UNKNOWN_SESSIONS_PER_CONNECT * perMinute),
  };
  rates.set(perMinute, made);
  return made;
}

function identify(request: Request, asked: Asked, authenticate: Authenticate): Promise<VouchedIdentity | Response> {
  return askHost(
    () => authenticate(request, asked),
    (given) => {
      if (isUnauthenticated(given)) return refuseToken(given);
      const user = readUser(given);
      if (!roomAllowed(user.rooms, asked.room))
        return refuseRequest("FORBIDDEN_ROOM", `This user may not enter room ${asked.room}`);
      return user as VouchedIdentity;
    },
  );
}
