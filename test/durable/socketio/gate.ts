// An object that decides about each request of a client, and does not sleep while it has connections. Called by awake.test.ts.
import type { UpgradeFacts } from "../../../src/rpc/upgrade-header.ts";
import { SessionServer } from "../../../src/socketio/engine/session-server.ts";
import { Session } from "../../../src/socketio/engine/session.ts";
import type { Application, ObjectPorts } from "../../../src/socketio/object/application.ts";
import { SocketObject } from "../../../src/socketio/object/socket-object.ts";

const LIMITS = {
  maxPayloadBytes: 1000,
  pingIntervalMs: 25_000,
  pingTimeoutMs: 20_000,
  maxConnectionsPerIp: 0,
  transports: ["websocket", "polling"] as const,
  staysAwake: true,
};

export class Gate extends SocketObject<Cloudflare.Env> {
  constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
    super(ctx, env, (ports) => this.#create(ports));
  }

  /** Says what the engine and the request of the session were. */
  #create(ports: ObjectPorts): Application {
    const requests = new Map<Session, unknown>();
    const server = new SessionServer(LIMITS, ports, ({ effects }) => ({
      newSession(sid, handshake, seenAtMs, request) {
        const session = new Session(sid, handshake, seenAtMs);
        requests.set(session, request);
        return session;
      },
      onOpen: (session) => effects.send([session], [`42["${String(requests.get(session))}"]`]),
      onNotice: (session, notice) => effects.send([session], [`42["${notice}"]`]),
      onMessage: () => {},
      onClose: (session) => void requests.delete(session),
    }));
    return { server, limits: LIMITS, admit: (request, facts) => this.#admit(request, facts) };
  }

  async #admit(request: Request, { sid }: UpgradeFacts) {
    await Promise.resolve();
    const { method, headers } = request;
    if (headers.get("X-Ticket") === "forged") return new Response("no entry", { status: 403 });
    return {
      sid: headers.get("X-Wanted-Id") ?? undefined,
      request: `ticket ${headers.get("X-Ticket")}`,
      answering: (answer: Response) => answer.headers.set("X-Seen", `${method} ${sid ?? "new"}`),
    };
  }
}
