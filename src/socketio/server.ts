// The Socket.IO 5 server without I/O: inputs (a session opened, a frame, a closing, the clock) become
// events of an application, and what it emits becomes effects. The shell of an object drives it.
import { CLOSINGS, type Closing, type DisconnectReason } from "../protocol/closings.ts";
import { frameBytes, type Frame } from "../protocol/engine-io.ts";
import {
  encodeAck,
  encodeConnect,
  encodeConnectError,
  readMessage,
  type ClientPacket,
  type PartialPacket,
} from "../protocol/socket-io.ts";
import type { Deadline } from "./deadlines.ts";
import type { EngineOptions } from "./engine.ts";
import { Hub } from "./hub.ts";
import type { Namespace, Verdict } from "./namespace.ts";
import { SessionServer, type ServerPorts } from "./session-server.ts";
import type { Session, SessionRecord } from "./session.ts";
import { Socket, type SocketHost } from "./socket.ts";

export interface ServerOptions extends EngineOptions {
  /** From the handshake to an accepted CONNECT; past it the session is closed. */
  readonly connectTimeoutMs: number;
}

/** A namespace in service. Its handlers stand in a Map: event names come from clients, `__proto__` too. */
interface Seat {
  readonly namespace: Namespace;
  readonly hub: Hub;
  readonly handlers: ReadonlyMap<string, (socket: Socket, ...args: unknown[]) => unknown>;
}

export class Server extends SessionServer implements SocketHost {
  readonly #options: ServerOptions;
  readonly #seats = new Map<string, Seat>();
  /** Sessions in no namespace: newcomers before their CONNECT, and those put out of their last one. */
  readonly #strangers = new Set<Session>();
  readonly #connectDeadline: Deadline;

  /** @param namespaces by name; `/` is the main one */
  constructor(options: ServerOptions, namespaces: Readonly<Record<string, Namespace>>, ports: ServerPorts) {
    super(options, ports);
    this.#options = options;
    this.#connectDeadline = this.deadlines.add("connect", (nowMs) => this.#closeStrangers(nowMs));
    for (const [nsp, namespace] of Object.entries(namespaces)) this.#seat(nsp, namespace);
  }

  #seat(nsp: string, namespace: Namespace): void {
    const hub = new Hub(nsp, this.outbox);
    const handlers = new Map(Object.entries(namespace.handlers));
    this.#seats.set(nsp, { namespace, hub, handlers });
    namespace.start({
      hub,
      deadlines: this.deadlines,
      now: () => this.ports.now(),
      newId: () => this.ports.newId(),
      turn: (work) => this.outbox.turn(work),
      report: (problem, error) => this.ports.report(problem, error),
    });
  }

  // ---- sessions ------------------------------------------------------------------------------------------

  protected override onOpen(session: Session): void {
    this.#awaitConnect(session, session.handshake.issued);
  }

  protected override onRestore(session: Session, record: SessionRecord): void {
    session.partial = record.partial;
    if (record.strangerSinceMs !== undefined) this.#awaitConnect(session, record.strangerSinceMs);
    for (const socketRecord of record.sockets) {
      const seat = this.#seats.get(socketRecord.nsp);
      if (!seat) continue;
      const socket = new Socket(socketRecord, session, seat.hub, this);
      session.sockets.set(socketRecord.nsp, socket);
      seat.hub.add(socket);
      seat.namespace.onRestore?.(socket);
    }
  }

  override record(session: Session): SessionRecord {
    const { strangerSinceMs, partial } = session;
    return {
      ...super.record(session),
      sockets: [...session.sockets.values()].map((socket) => socket.toRecord()),
      ...(strangerSinceMs !== undefined && { strangerSinceMs }),
      ...(partial && fitsRecord(partial) && { partial }),
    };
  }

  // ---- Engine.IO's layer above ---------------------------------------------------------------------------

  override onMessage(session: Session, data: Frame): void | Promise<void> {
    const hadPartial = session.partial !== undefined;
    const result = readMessage(data, session.partial);
    session.partial = result.kind === "partial" ? result.partial : undefined;
    if (hadPartial || session.partial) this.outbox.save(session);
    switch (result.kind) {
      case "partial":
        return;
      case "error":
        return this.engine.close(session, CLOSINGS.parseError);
      case "packet":
        return this.#onPacket(session, result.packet);
    }
  }

  override onClose(session: Session, closing: Closing): void {
    this.#acquaint(session);
    for (const socket of session.sockets.values()) this.#dismiss(socket, closing.disconnect);
    session.sockets.clear();
  }

  // ---- packets -------------------------------------------------------------------------------------------

  #onPacket(session: Session, packet: ClientPacket): void | Promise<void> {
    if (packet.type === "connect") return this.#onConnect(session, packet.nsp, packet.auth);
    const socket = session.sockets.get(packet.nsp);
    // SIO-4: nothing is heard from a namespace that was not joined.
    if (!socket) return this.engine.close(session, CLOSINGS.protocolViolation);
    switch (packet.type) {
      case "event":
        return this.#onEvent(socket, packet);
      case "disconnect":
        session.sockets.delete(packet.nsp);
        this.#dismiss(socket, "client namespace disconnect");
        return this.outbox.save(session);
      case "ack":
        // Nothing here asks a client for an ack, so there is nothing this could answer.
        return;
    }
  }

  #onConnect(session: Session, nsp: string, auth: Readonly<Record<string, unknown>>): void | Promise<void> {
    // SIO-5: a second CONNECT to a namespace, joined or being joined, ends the session.
    if (session.sockets.has(nsp) || session.connecting.has(nsp)) {
      return this.engine.close(session, CLOSINGS.protocolViolation);
    }
    const seat = this.#seats.get(nsp);
    if (!seat) return this.outbox.send([session], encodeConnectError(nsp, { message: "Invalid namespace" }));
    const request = { auth, handshake: session.handshake };
    const verdict = this.#guard(session, () => seat.namespace.authorize?.(request) ?? LET_IN);
    if (!isPromise(verdict)) return verdict && this.#decide(session, nsp, seat, verdict);
    session.connecting.add(nsp);
    return verdict.then(
      (decided) => this.outbox.turn(() => this.#decide(session, nsp, seat, decided)),
      (error: unknown) => this.outbox.turn(() => this.#fail(session, error)),
    );
  }

  #decide(session: Session, nsp: string, { namespace, hub }: Seat, verdict: Verdict<unknown>): void {
    session.connecting.delete(nsp);
    if (session.closed) return;
    if (!verdict.accepted) return this.outbox.send([session], encodeConnectError(nsp, verdict));
    const id = this.ports.newId();
    const socket = new Socket({ nsp, id, data: verdict.data, channels: [] }, session, hub, this);
    session.sockets.set(nsp, socket);
    this.#acquaint(session);
    hub.add(socket);
    this.outbox.save(session);
    this.outbox.send([session], encodeConnect(nsp, id));
    this.#guard(session, () => namespace.onConnect?.(socket));
  }

  #onEvent(socket: Socket, packet: ClientPacket & { type: "event" }): void | Promise<void> {
    const { session } = socket;
    const { namespace, handlers } = this.#seats.get(packet.nsp)!;
    const args = packet.id === undefined ? packet.args : [...packet.args, this.#ackOf(socket, packet.nsp, packet.id)];
    const handler = handlers.get(packet.event);
    const result = this.#guard(session, () =>
      handler ? handler(socket, ...args) : namespace.onUnknownEvent?.(socket, packet.event, args),
    );
    if (isPromise(result)) {
      return result.then(
        () => undefined,
        (error: unknown) => this.outbox.turn(() => this.#fail(session, error)),
      );
    }
  }

  /** The callback that answers an event; it answers once. */
  #ackOf(socket: Socket, nsp: string, id: number): (...args: unknown[]) => void {
    let answered = false;
    return (...args) => {
      if (answered || !socket.connected) return;
      answered = true;
      this.outbox.send([socket.session], encodeAck(nsp, id, args));
    };
  }

  // ---- endings -------------------------------------------------------------------------------------------

  closeSession(session: Session, closing: Closing): void {
    this.outbox.turn(() => this.engine.close(session, closing));
  }

  removeSocket(socket: Socket, reason: DisconnectReason): void {
    this.outbox.turn(() => {
      const { session } = socket;
      session.sockets.delete(socket.nsp);
      this.#dismiss(socket, reason);
      // A client that was put out of its last namespace must not hold the connection for ever.
      if (session.sockets.size === 0) this.#awaitConnect(session, this.ports.now());
      this.outbox.save(session);
    });
  }

  #dismiss(socket: Socket, reason: DisconnectReason): void {
    const seat = this.#seats.get(socket.nsp)!;
    socket.connected = false;
    seat.hub.remove(socket);
    try {
      seat.namespace.onDisconnect?.(socket, reason);
    } catch (error) {
      this.ports.report("onDisconnect failed", error);
    }
  }

  #awaitConnect(session: Session, sinceMs: number): void {
    session.strangerSinceMs = sinceMs;
    this.#strangers.add(session);
    this.#connectDeadline.pull(sinceMs + this.#options.connectTimeoutMs);
  }

  #acquaint(session: Session): void {
    session.strangerSinceMs = undefined;
    this.#strangers.delete(session);
    if (this.#strangers.size === 0) this.#connectDeadline.clear();
  }

  #closeStrangers(nowMs: number): void {
    for (const session of this.#strangers) {
      const dueMs = session.strangerSinceMs! + this.#options.connectTimeoutMs;
      if (dueMs <= nowMs) this.engine.close(session, CLOSINGS.connectTimeout);
      else this.#connectDeadline.pull(dueMs);
    }
  }

  /** Application code runs here: its bug costs the one session that met it, and nobody else notices. */
  #guard<Result>(session: Session, run: () => Result): Result | undefined {
    try {
      return run();
    } catch (error) {
      this.#fail(session, error);
      return undefined;
    }
  }

  #fail(session: Session, error: unknown): void {
    this.ports.report("an event handler failed", error);
    this.engine.close(session, CLOSINGS.internal);
  }
}

/**
 * A larger half-received packet is not kept: if the object sleeps before the rest of it comes, the rest
 * has nothing to belong to, and the session ends with a parse error (SIO-9).
 */
const PARTIAL_KEPT_BYTES_MAX = 8192;

function fitsRecord({ frames }: PartialPacket): boolean {
  return frames.reduce((bytes, frame) => bytes + frameBytes(frame), 0) <= PARTIAL_KEPT_BYTES_MAX;
}

const LET_IN: Verdict<unknown> = { accepted: true, data: {} };

function isPromise<Value>(value: Value | Promise<Value>): value is Promise<Value> {
  return typeof value === "object" && value !== null && "then" in value;
}
