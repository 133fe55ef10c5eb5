// The server that the public protocol suites want to talk to: two echoes on the layers of this project,
// behind the checks of the real Worker. Run by scripts/protocol-suites.ts.
import type { Application } from "../../durable/socketio/application.ts";
import { SocketObject } from "../../durable/socketio/socket-object.ts";
import { WAITING, WAITING_ASLEEP } from "../../durable/socketio/wake-clock.ts";
import { settingsOf, type Settings } from "../../src/settings/settings.ts";
import { encodeMessage, type Frame } from "../../src/socketio/wire/engine-io.ts";
import type { EventsMap } from "../../src/socketio/server/events.ts";
import { Namespace, type ConnectRequest, type AuthorizeResult } from "../../src/socketio/server/namespace.ts";
import { Server, type ServerPorts } from "../../src/socketio/server/server.ts";
import { SessionServer } from "../../src/socketio/engine/session-server.ts";
import { Session } from "../../src/socketio/engine/session.ts";
import type { Socket } from "../../src/socketio/server/socket.ts";
import { deploymentOf } from "../../src/worker/deployment.ts";
import { mountOf } from "../../src/worker/mount.ts";
import { connect } from "../../src/worker/connect/connect.ts";

interface Env {
  readonly ENGINE_ECHO: DurableObjectNamespace;
  readonly SOCKET_ECHO: DurableObjectNamespace;
  readonly [setting: string]: unknown;
}

/** All sessions of a suite share one object. The script that evicts it knows it by this name, too. */
const OBJECT_NAME = "suite";

const MOUNT = mountOf({});

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === "/engine.io/") return route(request, env, env.ENGINE_ECHO);
    if (pathname === "/socket.io/") return route(request, env, env.SOCKET_ECHO);
    return new Response("Not found", { status: 404 });
  },
};

/** The real Worker's own way in, with one of our objects in the place of the room. */
function route(request: Request, env: Env, objects: DurableObjectNamespace): Promise<Response> {
  return connect(
    request,
    { ...env, CHAT_ROOM: objects },
    deploymentOf(MOUNT, { ...env, CHAT_ROOM: objects })!,
    OBJECT_NAME,
  );
}

/** Leaves a row for each instance that was ever built: what proves that an eviction took place. */
abstract class CountedObject extends SocketObject<Env> {
  constructor(
    ctx: DurableObjectState,
    env: Env,
    createServer: (settings: Settings, ports: ServerPorts) => Application["server"],
  ) {
    super(ctx, env, (_ctx, _env, ports) => {
      const settings = goodSettingsOf(env);
      const waiting = env["WAITING"] === "asleep" ? WAITING_ASLEEP : WAITING;
      return { server: createServer(settings, ports), limits: { ...settings, waiting } };
    });
    ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS instances (number INTEGER PRIMARY KEY)");
    ctx.storage.sql.exec("INSERT INTO instances DEFAULT VALUES");
  }
}

function goodSettingsOf(env: Env): Settings {
  const result = settingsOf(env);
  if (!result.ok) throw new Error(`bad settings: ${result.problems.join("; ")}`);
  return result.settings;
}

// ---- Engine.IO alone -------------------------------------------------------------------------------------

export class EngineEcho extends CountedObject {
  constructor(ctx: DurableObjectState, env: Env) {
    super(
      ctx,
      env,
      (settings, ports) =>
        new SessionServer(settings, ports, ({ effects }) => ({
          newSession: (...begun) => new Session(...begun),
          onMessage: (session, data: Frame) => effects.send([session], [encodeMessage(data)]),
          onClose: () => {},
        })),
    );
  }
}

// ---- Socket.IO -------------------------------------------------------------------------------------------

export class SocketEcho extends CountedObject {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env, (settings, ports) => {
      const namespaces = { "/": new EchoNamespace(), "/custom": new EchoNamespace() };
      return new Server(settings, { static: namespaces }, ports);
    });
  }
}

interface EchoData {
  readonly auth: ConnectRequest["auth"];
}

/** What the suites send is theirs, so events are untyped here; the last of `args` may be the ack callback. */
class EchoNamespace extends Namespace<EventsMap, EventsMap, EchoData> {
  override readonly authenticate = "anybody";
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
