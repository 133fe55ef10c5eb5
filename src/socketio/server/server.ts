// The Socket.IO 5 server without I/O: inputs (a session opened, a frame, a closing, the clock) become
// events of an application, and what it emits becomes effects. The shell of an object drives it.
import { CLOSINGS, isReturnable, type Closing, type DisconnectReason } from "../wire/closings.ts";
import type { Frame } from "../wire/engine-io.ts";
import {
  encodeConnect,
  encodeConnectError,
  encodeDisconnect,
  readMessage,
  type ClientPacket,
} from "../wire/socket-io.ts";
import { Acks, answerTo, type AskAnswer, type AskRecord } from "./acks.ts";
import type { EngineOptions } from "../engine/engine.ts";
import { firstRecord, type Beginning } from "./first-record.ts";
import type { ConnectRequest, Refusal, Verdict } from "./namespace.ts";
import { Namespaces, type NamespaceTable, type Seat } from "./namespaces.ts";
import { MISSED_BYTES_MAX, type Resumed } from "../recovery/recovery.ts";
import { ServerSide, type ServerSideAnswer, type ServerSideEvent } from "./server-side.ts";
import { CONNECTS_MAX, SessionFlood } from "../engine/session-flood.ts";
import { SessionServer, type ServerPorts } from "./session-server.ts";
import { TokenLife } from "./token-life.ts";
import { isKeptAsleep, type Session, type SessionRecord, type SocketRecord } from "../engine/session.ts";
import { Socket, type SocketHost } from "./socket.ts";
import { Strangers } from "./strangers.ts";
import { countAccepted, countRefusal } from "../engine/traffic.ts";
import { andThen, isPromise, judge, type Judged } from "./verdicts.ts";

export interface ServerOptions extends EngineOptions {
  /** From the handshake to an accepted CONNECT; past it the session is closed. */
  readonly connectTimeoutMs: number;
}

export class Server extends SessionServer implements SocketHost {
  readonly acks: Acks;
  readonly #namespaces: Namespaces;
  readonly #strangers: Strangers;
  readonly #connects = new SessionFlood(CONNECTS_MAX);
  readonly #serverSide: ServerSide;
  readonly #tokens: TokenLife | undefined;

  constructor(options: ServerOptions, table: NamespaceTable, ports: ServerPorts) {
    super(options, ports);
    this.acks = new Acks(this.deadlines, (socket, ask, answer) => this.#resume(socket, ask, answer));
    const close = (session: Session, closing: Closing): void => this.engine.close(session, closing);
    this.#strangers = new Strangers(options.connectTimeoutMs, this.deadlines, ports, close);
    const shared = {
      now: () => ports.now(),
      turn: <Result>(work: () => Result) => this.outbox.turn(work),
      report: (problem: string, error: unknown) => ports.report(problem, error),
    };
    this.#serverSide = new ServerSide(this.deadlines, { ...shared, reach: ports.reach });
    this.#tokens =
      ports.tokens &&
      new TokenLife(ports.tokens, {
        ...shared,
        deadlines: this.deadlines,
        sessions: this.sessions,
        refreshed: (socket, identity) => this.#seatOf(socket).namespace.onRefresh?.(socket, identity),
        isFlood: (session) => this.#isFlood(session),
      });
    this.#namespaces = new Namespaces(table, {
      ...shared,
      refreshToken: async (...refreshing) => this.#tokens?.refresh(...refreshing),
      outbox: this.outbox,
      deadlines: this.deadlines,
      newId: () => ports.newId(),
      serverSide: this.#serverSide,
    });
  }

  /** SIO-12: another room has something to tell. */
  override hear(event: ServerSideEvent): Promise<ServerSideAnswer> {
    return this.#serverSide.hear(this.#namespaces.get(event.nsp)?.namespace, event);
  }

  now(): number {
    return this.ports.now();
  }

  // ---- sessions ------------------------------------------------------------------------------------------

  protected override onOpen(session: Session): void {
    this.#strangers.add(session, session.handshake.issued);
  }

  protected override onRestore(session: Session, record: SessionRecord): void {
    session.partial = record.partial;
    if (record.strangerSinceMs !== undefined) this.#strangers.add(session, record.strangerSinceMs);
    for (const socketRecord of record.sockets) {
      const seat = this.#restoreSeat(socketRecord);
      // Its client believes to be there, and would miss what is said without knowing: it has to come back.
      if (seat === "failed") return this.engine.close(session, CLOSINGS.restart);
      if (!seat) continue;
      const socket = new Socket(socketRecord, session, seat.hub, this);
      session.sockets.set(socket.nsp, socket);
      seat.hub.restore(socket);
      if (socket.asks.length > 0) this.acks.watch(socket);
      this.#tokens?.watch(socket);
      if (socket.pid !== undefined) seat.recovery?.log.retain?.(socket.id);
      void this.#inTurns(session, () => seat.namespace.onRestore?.(socket));
      if (session.closed) return;
    }
    // The namespaces it was in may be gone with an older version of the application.
    if (record.sockets.length > 0 && session.sockets.size === 0 && record.strangerSinceMs === undefined)
      this.#strangers.add(session, this.now());
  }

  protected override onWake(): void {
    this.#namespaces.wake();
  }

  /** An application that cannot make a namespace again loses the sockets in it, and not the whole object. */
  #restoreSeat({ nsp, rule }: SocketRecord): Seat | "failed" | undefined {
    try {
      return this.#namespaces.restore(nsp, rule);
    } catch (error) {
      this.ports.report(`the namespace ${nsp} could not be made again`, error);
      return "failed";
    }
  }

  override record(session: Session): SessionRecord {
    const { strangerSinceMs, partial } = session;
    return {
      ...super.record(session),
      sockets: [...session.sockets.values()].map((socket) => socket.toRecord()),
      ...(strangerSinceMs !== undefined && { strangerSinceMs }),
      ...(partial && isKeptAsleep(partial) && { partial }),
    };
  }

  protected override onChange(session: Session): void {
    try {
      for (const socket of session.sockets.values()) socket.rememberChange();
    } catch (error) {
      this.ports.report("the state of a session cannot be remembered", error);
      this.engine.close(session, CLOSINGS.stateTooLarge);
    }
  }

  // ---- Engine.IO's layer above ---------------------------------------------------------------------------

  override onMessage(session: Session, data: Frame): void | Promise<void> {
    const hadPartial = session.partial !== undefined;
    const result = readMessage(data, session.partial);
    session.partial = result.kind === "partial" ? result.partial : undefined;
    if (hadPartial || session.partial) this.outbox.save(session);
    switch (result.kind) {
      case "partial":
        // SIO-4: nor is anything kept for who is in none.
        return session.sockets.size > 0 ? undefined : this.engine.close(session, CLOSINGS.protocolViolation);
      case "error":
        return this.engine.close(session, CLOSINGS.parseError);
      case "packet":
        return this.#onPacket(session, result.packet);
    }
  }

  override onClose(session: Session, closing: Closing): void {
    this.#strangers.closed(session, closing);
    this.#connects.forget(session);
    for (const nsp of session.connecting) this.#namespaces.giveUp(nsp, session);
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
        return this.removeSocket(socket, "client namespace disconnect");
      case "ack":
        if (!this.acks.receive(socket, packet.id, packet.args)) this.engine.passOver(session, this.now());
    }
  }

  #onConnect(session: Session, nsp: string, auth: ConnectRequest["auth"]): void | Promise<void> {
    // SIO-5: a second CONNECT to a namespace, joined or being joined, ends the session.
    if (session.sockets.has(nsp) || session.connecting.includes(nsp)) {
      return this.engine.close(session, CLOSINGS.protocolViolation);
    }
    if (this.#isFlood(session)) return;
    const request = { nsp, auth, handshake: session.handshake };
    session.deciding(nsp);
    return this.#inTurns(session, () =>
      andThen(this.#namespaces.find(request, session), (seat) => {
        if (!seat) return this.#refuse(session, nsp, { message: "Invalid namespace" });
        // One turn, also where it comes after an await.
        return andThen(judge(seat.namespace, request, this.#tokens), (judged) =>
          this.outbox.turn(() => this.#conclude(session, request, seat, judged)),
        );
      }),
    );
  }

  /** SIO-11: counts a verdict that is asked for. @returns whether it was one too many, and the session is over */
  #isFlood(session: Session): boolean {
    const isOver = this.#connects.isOver(session, this.now());
    if (isOver) this.engine.close(session, CLOSINGS.connectFlood);
    return isOver;
  }

  #conclude(session: Session, request: ConnectRequest, seat: Seat, judged: Judged): void | Promise<void> {
    try {
      if (!judged.verdict) throw judged.error;
      return this.#decide(session, { ...request, ...judged }, seat, judged.verdict);
    } finally {
      // Not before: the socket may take the place of its twin, who was the last one in the namespace.
      this.#namespaces.giveUp(request.nsp, session);
    }
  }

  #refuse(session: Session, nsp: string, refusal: Omit<Refusal, "accepted">): void {
    session.decided(nsp);
    countRefusal(this.meter, refusal);
    if (session.closed) return;
    // SIO-13: stock clients come back from a closing, and from a CONNECT_ERROR never. A session that is in another namespace stays.
    if (this.#strangers.putOff(session, refusal.passesInMs)) return;
    this.outbox.send([session], encodeConnectError(nsp, refusal));
  }

  /** @returns a promise while the application is busy with the socket that it let in */
  #decide(
    session: Session,
    { nsp, auth, identity }: ConnectRequest,
    seat: Seat,
    verdict: Verdict<unknown>,
  ): void | Promise<void> {
    if (session.closed) return;
    if (!verdict.accepted) return this.#refuse(session, nsp, verdict);
    this.#namespaces.occupy(seat);
    const { recovery } = seat;
    const owner =
      recovery && session.handshake.canRecover ? seat.namespace.ownerOf(verdict.data, identity?.user) : undefined;
    const claim = owner === undefined ? undefined : recovery?.claim(auth, { nsp, owner });
    // First of all: what its twin had, and what its going tells the others, is part of what it missed.
    const wasThere = claim !== undefined && this.#evictTwin(seat, claim.id);
    // After its twin went: whoever comes back to a full room takes the place it had.
    const refusal = seat.namespace.admit?.(verdict.data);
    if (refusal) return this.#refuse(session, nsp, refusal);
    session.decided(nsp);
    if (session.closed) return;
    const bytesMax = MISSED_BYTES_MAX - (session.polling?.bytes ?? 0);
    const resumed = claim && this.#recover(() => recovery?.resume(claim, { nowMs: this.now(), bytesMax, wasThere }));
    countAccepted(this.meter, { asksForMore: typeof auth["pid"] === "string", claim, resumed });
    const id = resumed?.id ?? this.ports.newId();
    const pid = owner === undefined ? undefined : (resumed?.pid ?? recovery?.pid(nsp, id, owner));
    const token = identity && this.#tokens?.recordOf(identity);
    const socket = this.#makeSocket(session, seat, { id, pid, verdict, resumed, token });
    this.outbox.save(session);
    this.outbox.send([session], encodeConnect(nsp, id, pid));
    socket.replay(resumed?.missed ?? []);
    this.#seatSocket(session, seat, socket);
    socket.remember();
    return this.#inTurns(session, () => seat.namespace.onConnect?.(socket));
  }

  /** What cannot be read back is not recovered: it would be asked for again and again, and keep its owner out. */
  #recover(resume: () => Resumed | undefined): Resumed | undefined {
    try {
      return resume();
    } catch (error) {
      this.ports.report("what a socket missed could not be read", error);
      return undefined;
    }
  }

  #makeSocket(session: Session, seat: Seat, beginning: Beginning): Socket {
    this.#strangers.joined(session);
    return new Socket(firstRecord(seat, beginning), session, seat.hub, this);
  }

  #seatSocket(session: Session, seat: Seat, socket: Socket): void {
    session.sockets.set(socket.nsp, socket);
    seat.hub.add(socket);
    this.#tokens?.watch(socket);
  }

  /**
   * REC-4: the connection that a recovering client left behind may not have noticed yet that it is dead.
   * @returns whether there was one
   */
  #evictTwin({ hub }: Seat, id: string): boolean {
    const twin = hub.sockets.get(id);
    if (twin) this.engine.close(twin.session, CLOSINGS.superseded);
    return twin !== undefined;
  }

  #onEvent(socket: Socket, packet: ClientPacket & { type: "event" }): void | Promise<void> {
    const { namespace, handlers } = this.#seatOf(socket);
    const args = packet.id === undefined ? packet.args : [...packet.args, answerTo(socket, packet.id, this.outbox)];
    return this.#inTurns(socket.session, () => {
      namespace.onAny?.(socket, packet.event, args);
      for (const middleware of namespace.eventMiddleware) {
        const error = middleware(socket, packet.event, args);
        if (error) return void socket.emit("error", { message: error.message });
      }
      const handler = handlers.get(packet.event) ?? this.#tokens?.handlerOf(socket, packet.event);
      return handler ? handler(socket, ...args) : namespace.onUnknownEvent?.(socket, packet.event, args);
    });
  }

  /** Goes on with what was asked, perhaps by an earlier instance. */
  #resume(socket: Socket, { handler, data }: AskRecord, answer: AskAnswer): void {
    const { namespace } = this.#seatOf(socket);
    const continuation = Object.hasOwn(namespace.continuations, handler) ? namespace.continuations[handler] : undefined;
    if (!continuation)
      return this.ports.report("nothing goes on with an answer", new Error(`no continuation ${handler}`));
    void this.#inTurns(socket.session, () => continuation(socket, answer, data));
  }

  // ---- endings -------------------------------------------------------------------------------------------

  closeSession(session: Session, closing: Closing): void {
    this.outbox.turn(() => this.engine.close(session, closing));
  }

  /** Ends the session of a socket for good: a client that is told first does not come back by itself. */
  dismissSession(session: Session): void {
    this.outbox.turn(() => {
      for (const nsp of session.sockets.keys()) this.outbox.send([session], encodeDisconnect(nsp));
      this.engine.close(session, CLOSINGS.forcedByServer);
    });
  }

  removeSocket(socket: Socket, reason: DisconnectReason): void {
    this.outbox.turn(() => {
      const { session } = socket;
      session.sockets.delete(socket.nsp);
      this.#dismiss(socket, reason);
      // SIO-1: who is in no namespace any more must not hold the connection for ever.
      if (session.sockets.size === 0 && !session.closed) this.#strangers.add(session, this.ports.now());
      this.outbox.save(session);
    });
  }

  #dismiss(socket: Socket, reason: DisconnectReason): void {
    const { namespace, hub, recovery } = this.#seatOf(socket);
    socket.isLeaving = true;
    this.#survive("onDisconnecting failed", () => namespace.onDisconnecting?.(socket, reason));
    socket.connected = false;
    this.#tokens?.forget(socket);
    this.#survive("leaving channels failed", () => hub.remove(socket));
    // Before it is remembered: what they note in `socket.data` comes back with it.
    this.acks.abandon(socket);
    const nowMs = this.ports.now();
    const mayReturn = isReturnable(reason);
    recovery?.depart(socket.id, { atMs: nowMs, mayReturn });
    this.#survive("a socket could not be remembered", () =>
      socket.remember({ goneAtMs: nowMs, saidGoodbye: !mayReturn }),
    );
    socket.exitAll();
    this.#survive("onDisconnect failed", () => namespace.onDisconnect?.(socket, reason));
    this.#namespaces.release(socket.nsp);
  }

  /** Runs a step of an ending, which goes on whatever happens in it. */
  #survive(problem: string, step: () => unknown): void {
    const report = (error: unknown): void => this.ports.report(problem, error);
    try {
      const result = step();
      if (isPromise(result)) void result.then(undefined, report);
    } catch (error) {
      report(error);
    }
  }

  /** A socket's namespace is in service as long as the socket is. */
  #seatOf(socket: Socket): Seat {
    return this.#namespaces.get(socket.nsp)!;
  }

  /**
   * Runs application code. Its bug costs the one session that met it, and nobody else notices. What follows
   * an await is a turn of its own.
   */
  #inTurns(session: Session, run: () => unknown): void | Promise<void> {
    const fail = (error: unknown): void => {
      this.ports.report("an event handler failed", error);
      this.closeSession(session, CLOSINGS.internal);
    };
    try {
      const result = run();
      // What changed in `socket.data` after an await has to be kept too.
      if (isPromise(result)) return result.then(() => this.outbox.save(session), fail);
    } catch (error) {
      fail(error);
    }
  }
}
