// The Socket.IO 5 server without I/O. It turns inputs (new sessions, frames, closings, the clock) into events of an application, and the
// emits of the application into effects. Called by the shell of an object.
import { CONNECTS_MAX, SessionFlood } from "../engine/session-flood.ts";
import { CLOSINGS, type Closing } from "../wire/closings.ts";
import type { Frame } from "../wire/engine-io.ts";
import { readMessage, type ClientPacket } from "../wire/socket-io.ts";
import type { Engine, EngineOptions } from "../engine/engine.ts";
import type { Effects } from "../engine/effects.ts";
import { SessionServer, type Layer, type LayerContext, type SessionPorts } from "../engine/session-server.ts";
import type { Handshake, SessionRecord } from "../engine/session.ts";
import { answerTo } from "./acks.ts";
import { Connects } from "./connects.ts";
import { Failures } from "./failures.ts";
import { HANDLE_EVENT, STEPS } from "./namespace.ts";
import { Namespaces, type NamespaceTable } from "./namespaces.ts";
import type { SocketSessionRecord } from "./records.ts";
import { ServerSide, type OtherRooms, type ServerSideAnswer, type ServerSideEvent } from "./server-side.ts";
import type { Socket } from "./socket.ts";
import { SocketSession } from "./socket-session.ts";
import { Sockets } from "./sockets.ts";
import { TokenLife, type TokenPorts } from "./token-life.ts";
import { UnjoinedSessions } from "./unjoined-sessions.ts";

export interface ServerOptions extends EngineOptions {
  /** From the handshake to an accepted CONNECT; after that the session is closed. */
  readonly connectTimeoutMs: number;
}

/** The functions of the outside world that a Socket.IO server calls. */
export interface ServerPorts extends SessionPorts {
  /** Verifies the tokens of CONNECTs. Without it, each namespace decides without tokens and identities. */
  readonly tokens?: TokenPorts;
  /** Makes what handlers get of the bytes of a client. Default: the bytes. */
  readonly view?: (bytes: Uint8Array) => Uint8Array;
  /** The servers of other rooms, if the application can reach them. */
  readonly rooms?: OtherRooms;
}

export class Server extends SessionServer<SocketSession, SocketLayer> {
  constructor(options: ServerOptions, table: NamespaceTable, ports: ServerPorts) {
    super(options, ports, (context) => new SocketLayer(options, table, ports, context));
  }

  /** SIO-12: passes an event of another room's server to its namespace. */
  receiveServerSideEvent(event: ServerSideEvent): Promise<ServerSideAnswer> {
    return this.layer.receiveServerSideEvent(event);
  }

  /** Ends a session for good: a stock client does not come back by itself. */
  dismissSession(session: SocketSession): void {
    this.layer.sockets.dismissSession(session);
  }
}

/** Speaks Socket.IO over the sessions of the engine: decodes messages to packets, and calls namespaces with them. */
class SocketLayer implements Layer<SocketSession> {
  readonly sockets: Sockets;
  readonly #engine: Engine;
  readonly #effects: Effects;
  readonly #report: ServerPorts["report"];
  readonly #view: ServerPorts["view"];
  readonly #namespaces: Namespaces;
  readonly #unjoined: UnjoinedSessions;
  readonly #connects: Connects;
  readonly #serverSide: ServerSide;
  readonly #tokens: TokenLife | undefined;

  constructor(options: ServerOptions, table: NamespaceTable, ports: ServerPorts, context: LayerContext<SocketSession>) {
    const { engine, sessions, effects, deadlines, meter } = context;
    this.#engine = engine;
    this.#effects = effects;
    this.#view = ports.view;
    this.#report = (problem, error) => ports.report(problem, error);
    const shared = {
      now: () => ports.now(),
      newId: () => ports.newId(),
      turn: <Result>(work: () => Result) => effects.turn(work),
      report: this.#report,
    };
    const failures = new Failures(shared);
    this.#serverSide = new ServerSide(deadlines, shared, ports.rooms);
    this.#tokens =
      ports.tokens &&
      new TokenLife(ports.tokens, {
        ...shared,
        deadlines,
        sessions,
        refreshed: (socket, identity) => this.sockets.entryOf(socket).namespace.onRefresh?.(socket, identity),
        isFlood: (session) => this.#connects.isFlood(session),
      });
    const tokens = this.#tokens;
    this.#namespaces = new Namespaces(table, {
      ...shared,
      effects,
      deadlines,
      serverSide: this.#serverSide,
      sessions,
      failures,
      phase: ports.phase,
      closeSession: (session, closing) => effects.turn(() => this.sockets.close(session, closing)),
      refreshToken: async (...refreshing) => tokens?.refresh(...refreshing),
    });
    this.#unjoined = new UnjoinedSessions(options.connectTimeoutMs, deadlines, ports, (session, closing) =>
      this.sockets.close(session, closing),
    );
    const flood = new SessionFlood(CONNECTS_MAX);
    const parts = { namespaces: this.#namespaces, unjoined: this.#unjoined, tokens, flood, failures };
    this.sockets = new Sockets(context, shared, parts);
    this.#connects = new Connects({ ...shared, ...parts, meter, sockets: this.sockets });
  }

  receiveServerSideEvent(event: ServerSideEvent): Promise<ServerSideAnswer> {
    return this.#serverSide.receive(this.#namespaces.get(event.nsp)?.namespace, event);
  }

  newSession(sid: string, handshake: Handshake, seenAtMs: number): SocketSession {
    return new SocketSession(sid, handshake, seenAtMs);
  }

  onOpen(session: SocketSession): void {
    this.#unjoined.add(session, session.handshake.issued);
  }

  onRestore(session: SocketSession, record: SessionRecord): void {
    const { unjoinedSinceMs, sockets } = record as SocketSessionRecord;
    if (unjoinedSinceMs !== undefined) this.#unjoined.add(session, unjoinedSinceMs);
    for (const socket of sockets) {
      if (!this.sockets.restore(session, socket)) return this.sockets.close(session, CLOSINGS.restart);
      if (session.closed) return;
    }
    // A new version of the application may no longer have the namespaces of the session.
    if (sockets.length > 0 && session.sockets.size === 0 && unjoinedSinceMs === undefined)
      this.#unjoined.add(session, this.sockets.now());
  }

  onWake(): void {
    this.#namespaces.wake();
  }

  onStop(): void {
    this.#namespaces.stop();
  }

  onChange(session: SocketSession): void {
    try {
      for (const socket of session.sockets.values()) socket.rememberChange();
    } catch (error) {
      this.#report("the state of a socket could not be stored", error);
      this.sockets.close(session, CLOSINGS.stateTooLarge);
    }
  }

  onClosing(session: SocketSession, closing: Closing): void {
    this.sockets.announce(session, closing);
  }

  onClose(session: SocketSession, closing: Closing): void {
    this.sockets.removeSocketsOf(session, closing);
  }

  onMessage(session: SocketSession, data: Frame): void | Promise<void> {
    const hadPartial = session.partial !== undefined;
    const result = readMessage(data, session.partial, this.#view);
    session.partial = result.kind === "partial" ? result.partial : undefined;
    if (hadPartial || session.partial) this.#effects.save(session);
    switch (result.kind) {
      case "partial":
        // SIO-4
        return session.sockets.size > 0 ? undefined : this.sockets.close(session, CLOSINGS.protocolViolation);
      case "error":
        return this.sockets.close(session, CLOSINGS.parseError);
      case "packet":
        return this.#onPacket(session, result.packet);
    }
  }

  #onPacket(session: SocketSession, packet: ClientPacket): void | Promise<void> {
    if (packet.type === "connect") return this.#connects.receive(session, packet.nsp, packet.auth);
    const socket = session.sockets.get(packet.nsp);
    // SIO-4
    if (!socket) return this.sockets.close(session, CLOSINGS.protocolViolation);
    switch (packet.type) {
      case "event":
        return this.#onEvent(socket, packet);
      case "disconnect":
        return this.sockets.removeSocket(socket, "client namespace disconnect");
      case "ack":
        if (this.sockets.acks.receive(socket, packet.id, packet.args)) return;
        // LIM-4: no emit waits for it.
        if (this.#engine.isIdleFlood(session, this.sockets.now())) this.sockets.close(session, CLOSINGS.idleFlood);
    }
  }

  #onEvent(socket: Socket, packet: ClientPacket & { type: "event" }): void | Promise<void> {
    const { namespace, handlers } = this.sockets.entryOf(socket);
    const args = packet.id === undefined ? packet.args : [...packet.args, answerTo(socket, packet.id, this.#effects)];
    return this.sockets.run(socket, packet.event, () => {
      namespace.onAny?.(socket, packet.event, args);
      for (const middleware of namespace[STEPS].events) {
        const error = middleware(socket, packet.event, args);
        if (error) return void socket.emit("error", { message: error.message });
      }
      if (namespace[HANDLE_EVENT]) return namespace[HANDLE_EVENT](socket, packet.event, args);
      const handler = handlers.get(packet.event) ?? this.#tokens?.handlerOf(socket, packet.event);
      return handler ? handler(socket, ...args) : namespace.onUnknownEvent?.(socket, packet.event, args);
    });
  }
}
