// The server that the public protocol suites want to talk to: two echoes on the layers of this project,
// behind the checks of the real Worker. Run by scripts/protocol-suites.ts.
import { SocketObject } from "../../src/socketio/object/socket-object.ts";
import { encodeMessage, type Frame } from "../../src/socketio/wire/engine-io.ts";
import type { EventsMap } from "../../src/socketio/server/events.ts";
import { Namespace, type ConnectRequest, type AuthorizeResult } from "../../src/socketio/server/namespace.ts";
import { Server } from "../../src/socketio/server/server.ts";
import { SessionServer } from "../../src/socketio/engine/session-server.ts";
import { Session } from "../../src/socketio/engine/session.ts";
import type { Socket } from "../../src/socketio/server/socket.ts";
import { connect } from "../../src/worker/connect/connect.ts";

interface Env {
  readonly ENGINE_ECHO: DurableObjectNamespace;
  readonly SOCKET_ECHO: DurableObjectNamespace;
}

/** The values that the suites compare with. */
const OPTIONS = {
  pingIntervalMs: 300,
  pingTimeoutMs: 200,
  connectTimeoutMs: 1000,
  maxPayloadBytes: 1_000_000,
  maxConnectionsPerIp: 0,
  transports: ["polling", "websocket"],
} as const;

/** All sessions of a suite share one object. */
const OBJECT_NAME = "suite";

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const url = new URL(request.url);
    if (url.pathname !== "/engine.io/") return route(request, env.SOCKET_ECHO);
    url.pathname = "/socket.io/";
    return route(new Request(url, request), env.ENGINE_ECHO);
  },
};

/** The way in of any application. */
function route(request: Request, objects: DurableObjectNamespace): Promise<Response> {
  return connect(request, { object: () => objects.getByName(OBJECT_NAME), allowedOrigins: "*" });
}

// ---- Engine.IO alone -------------------------------------------------------------------------------------

export class EngineEcho extends SocketObject<Env> {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env, (ports) => ({
      server: new SessionServer(OPTIONS, ports, ({ effects }) => ({
        newSession: (sid, handshake, seenAtMs) => new Session(sid, handshake, seenAtMs),
        onMessage: (session, data: Frame) => effects.send([session], [encodeMessage(data)]),
        onClose: () => {},
      })),
      limits: OPTIONS,
    }));
  }
}

// ---- Socket.IO -------------------------------------------------------------------------------------------

export class SocketEcho extends SocketObject<Env> {
  constructor(ctx: DurableObjectState, env: Env) {
    const namespaces = { "/": new EchoNamespace(), "/custom": new EchoNamespace() };
    super(ctx, env, (ports) => ({ server: new Server(OPTIONS, { static: namespaces }, ports), limits: OPTIONS }));
  }
}

interface EchoData {
  readonly auth: ConnectRequest["auth"];
}

/** The suites choose their events, so these are untyped here; the last of `args` may be the ack callback. */
class EchoNamespace extends Namespace<EventsMap, EventsMap, EchoData> {
  readonly handlers = {
    message: (socket: Socket, ...args: unknown[]): void => {
      socket.emit("message-back", ...args);
    },
    "message-with-ack": (_socket: Socket, ...args: unknown[]): void => {
      const ack = args.pop() as (...answer: unknown[]) => void;
      ack(...args);
    },
  };

  override authorize({ auth }: ConnectRequest): AuthorizeResult<EchoData> {
    return { accepted: true, data: { auth } };
  }

  override onConnect(socket: Socket<EventsMap, EchoData>): void {
    socket.emit("auth", socket.peek().auth);
  }
}
