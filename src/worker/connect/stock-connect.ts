// connect of `parley-rooms/engine`: passes the connections of Socket.IO clients to objects that run a stock server, which decides about
// them as a server on Node does. Called by Workers.
import { refuseUnknown, wholeNumber } from "../../protocol/given-options.ts";
import { checkBasePath, enginePath } from "./base-path.ts";
import { answerSafely, knownSessions, ratesOf, refuseNoFunctions, type ConnectOptions } from "./connect.ts";
import { EXTENDED_QUERY, type EngineEndpoint } from "./engine-endpoint.ts";
import { refuseAddress } from "./no-address.ts";

export interface StockConnectOptions extends Pick<ConnectOptions, "room" | "otherwise" | "connectsPerMinute"> {
  /**
   * The object of a room, whose name is any text of 1 to 256 characters.
   * @returns `undefined` if there is no such room, which is answered 404
   */
  readonly object: ConnectOptions["object"];
  /** Where the addresses begin: `/boards` for `/boards/rooms/NAME/socket.io/`. Default: at the root. */
  readonly path?: string | undefined;
  /** The server's option `path`, if it has one. Default: `/socket.io`. */
  readonly serverPath?: string | undefined;
}

const NAMES: readonly string[] = [
  "object",
  "room",
  "path",
  "serverPath",
  "otherwise",
  "connectsPerMinute",
] satisfies Array<keyof StockConnectOptions>;

/** Characters of the application that a query may have, and Engine.IO's own parameters. */
const QUERY_BYTES_MAX = 8192;

/**
 * Answers the requests of Socket.IO clients to `/socket.io/`, with the room in `?room=NAME` (`global` without), and to
 * `/rooms/NAME/socket.io/`. Origins, tokens and cookies are for the server: its `cors`, `allowRequest` and middlewares decide.
 * @throws Error for a bad option, which it names
 */
export async function connect(request: Request, options: StockConnectOptions): Promise<Response> {
  refuseUnknown("connect", options, NAMES);
  const { object, room = object, otherwise = object } = options;
  refuseNoFunctions({ object, room, otherwise });
  const basePath = checkBasePath(options.path ?? "", "connect: path");
  const serverPath = checkBasePath(options.serverPath ?? "/socket.io", "connect: serverPath");
  const { pathname } = new URL(request.url);
  const address = pathname.startsWith(`${basePath}/`)
    ? enginePath(pathname.slice(basePath.length), serverPath)
    : undefined;
  if (address) return answerSafely(request, endpointOf(options), address.room, options.room);
  return options.otherwise?.(request) ?? refuseAddress(pathname, serverPath);
}

function endpointOf({ object, connectsPerMinute = 0 }: StockConnectOptions): EngineEndpoint {
  return {
    takesAnyName: true,
    transports: ["polling", "websocket"],
    ...ratesOf(wholeNumber("connect: connectsPerMinute", connectsPerMinute, 0)),
    knownSessions,
    queryRules: { extended: [EXTENDED_QUERY], keeps: () => true, bytesMax: QUERY_BYTES_MAX },
    object: async (room) => (await object(room)) ?? undefined,
  };
}
