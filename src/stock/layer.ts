// The layer between the engine and the package socket.io: each session is an `EngineSocket`. Called by the engine; made by the object
// (durable/engine-object.ts).
import { Buffer } from "node:buffer";

import type { Engine, Notice } from "../socketio/engine/engine.ts";
import type { Effects } from "../socketio/engine/effects.ts";
import type { Layer, LayerContext } from "../socketio/engine/session-server.ts";
import { Session, type Handshake } from "../socketio/engine/session.ts";
import type { UnjoinedQuota } from "../socketio/engine/unjoined-quota.ts";
import { TRANSPORT_CLOSE, TRANSPORT_ERROR, type Closing } from "../socketio/wire/closings.ts";
import { encodeMessage, type Frame } from "../socketio/wire/engine-io.ts";
import type { EngineServer, EngineTransportName } from "./engine-server.ts";
import { EngineSocket, EngineTransport, frameOf, type Line, type Written } from "./engine-socket.ts";
import type { EngineRequest } from "./node-request.ts";
import type { PacketLimits } from "./packet-limits.ts";

/** The application closed the connection: to its client it is a broken one. */
const CLOSED: Closing = { code: 1005, reason: "", disconnect: "forced server close" };
const CLOSED_LATE: Closing = { ...CLOSED, followsNoop: true };

export class StockSession extends Session {
  /** The one that opened it; none if it slept. */
  readonly request: EngineRequest | undefined;
  /** Absent while a session that slept is not back. */
  conn: EngineSocket | undefined;
  /** Whether its sockets are being restored after a sleep. */
  isRestoring = false;
  /** The one that is to take over, once its probe is answered. */
  upgrading: EngineTransport | undefined;
  /** Whether it is in no namespace yet. */
  isUnjoined = true;

  constructor(sid: string, handshake: Handshake, seenAtMs: number, request: EngineRequest | undefined) {
    super(sid, handshake, seenAtMs);
    this.request = request;
  }
}

/** The type of a Socket.IO packet by which the server lets a client into a namespace: its first character. */
const CONNECT = "0";

/** What the layer calls outside of the engine. */
interface LayerPorts {
  now(): number;
  report(problem: string, error: unknown): void;
  /** LIM-5 */
  readonly unjoined?: UnjoinedQuota;
}

interface LayerParts {
  readonly limits: PacketLimits;
  /** How long a client may stay in no namespace: the server's own option. */
  readonly connectTimeoutMs: number;
  /** Runs code of the application. */
  readonly run: (code: () => void) => void;
  /** Called before frames leave: it stores what has to be durable then. */
  readonly beforeSending?: () => void;
  /** Called when a client was in no namespace until its time was over: the package's timer keeps the object awake for that. */
  readonly onUnjoined?: () => void;
}

/** Messages that wait for the end of the running code, and the sessions that all get just these. */
interface Outgoing {
  readonly messages: readonly Frame[];
  sessions: StockSession[];
}

export class StockLayer implements Layer<StockSession> {
  readonly #server: EngineServer;
  readonly #engine: Engine;
  readonly #effects: Effects;
  readonly #ports: LayerPorts;
  readonly #parts: LayerParts;
  #outgoing: Outgoing[] = [];

  constructor(
    server: EngineServer,
    { engine, effects }: LayerContext<StockSession>,
    ports: LayerPorts,
    parts: LayerParts,
  ) {
    this.#server = server;
    this.#parts = parts;
    this.#engine = engine;
    this.#effects = effects;
    this.#ports = ports;
  }

  newSession(sid: string, handshake: Handshake, seenAtMs: number, request: unknown): StockSession {
    return new StockSession(sid, handshake, seenAtMs, request as EngineRequest | undefined);
  }

  #connect(session: StockSession, request: EngineRequest): EngineSocket {
    const opening = { id: session.sid, transport: transportOf(session) };
    session.conn = new EngineSocket(this.#server, request, opening, this.#lineOf(session));
    return session.conn;
  }

  /** Called for a session that slept. @returns passes on what its client would send to be in its namespaces */
  restore(session: StockSession, request: EngineRequest): (message: Written) => void {
    const conn = this.#connect(session, request);
    session.isUnjoined = false;
    this.#caught(() => this.#server.opened(conn));
    return (message) => this.#caught(() => conn.received({ type: "message", data: bytesOf(frameOf(message)) }));
  }

  onOpen(session: StockSession): void {
    const { sid, handshake } = session;
    const conn = this.#connect(session, session.request!);
    this.#ports.unjoined?.add(sid, handshake.address, {
      nowMs: handshake.issued,
      joinMs: this.#parts.connectTimeoutMs,
    });
    const { initialPacket } = this.#server.opts;
    if (initialPacket !== undefined) conn.write(initialPacket);
    this.#shielded(() => this.#server.opened(conn));
  }

  onMessage(session: StockSession, data: Frame): void {
    const { conn } = session;
    const verdict = this.#parts.limits.look(session, data, this.#ports.now());
    if (verdict !== "passes") {
      if ("answer" in verdict) return void conn?.write(verdict.answer);
      this.#end(verdict.ends as StockSession, verdict.closing);
      if (verdict.ends === session) return;
    }
    this.#shielded(() => conn?.received({ type: "message", data: bytesOf(data) }));
  }

  onNotice(session: StockSession, notice: Notice): void {
    const { conn } = session;
    if (!conn || (notice === "ping" && !conn.isWatched)) return;
    this.#shielded(() => {
      switch (notice) {
        case "polled":
          return conn.polled();
        case "ping":
          return void conn.emit("packetCreate", { type: "ping" });
        case "pong":
          return conn.received({ type: "pong" });
        case "upgrading":
          session.upgrading = new EngineTransport("websocket", this.#lineOf(session));
          return void conn.emit("upgrading", session.upgrading);
        case "upgrade":
          return conn.upgradedTo(session.upgrading!);
        case "upgradeFailed":
          return session.upgrading?.closed();
      }
    });
  }

  onClose(session: StockSession, closing: Closing): void {
    const { conn } = session;
    if (!conn) return;
    const { disconnect, reason } = closing;
    this.#parts.limits.forget(session);
    this.#forgetUnjoined(session, closing);
    this.#server.closed(conn);
    const description = disconnect === "transport error" ? new Error(reason || disconnect) : undefined;
    // Engine.IO has one word for all ends that the server wanted.
    this.#shielded(() => conn.ended(disconnect.startsWith("forced") ? "forced close" : disconnect, description));
  }

  #forgetUnjoined(session: StockSession, closing: Closing): void {
    if (!session.isUnjoined) return;
    const isGone = session.polling !== undefined || closing === TRANSPORT_CLOSE || closing === TRANSPORT_ERROR;
    if (isGone) this.#ports.unjoined?.remove(session.sid);
    else this.#ports.unjoined?.closing(session.sid, this.#ports.now());
  }

  /** A listener of the application that fails must not end the turn, which concerns others, too. */
  #shielded(run: () => void): void {
    this.#caught(() => this.#parts.run(run));
  }

  #caught(run: () => void): void {
    try {
      run();
    } catch (error) {
      this.#ports.report("a listener of the application failed", error);
    }
  }

  #lineOf(session: StockSession): Line {
    return {
      isPollWaiting: () => session.polling?.waitingSinceMs !== undefined,
      isUpgrading: () => session.probe !== undefined,
      send: (messages) => this.#send(session, messages),
      close: (isLate, discard) => this.#close(session, isLate, discard),
      bundle: (nsp, isRecoverable) => session.bundle(nsp, isRecoverable),
      unbundle: (nsp) => session.unbundle(nsp),
    };
  }

  /**
   * Socket.IO handles packets and sends events outside the turns of the engine, where each frame would be a turn of its own. So they wait for
   * the end of the running code.
   */
  #send(session: StockSession, messages: readonly Frame[]): void {
    if (session.isUnjoined && messages.some((data) => typeof data === "string" && data.startsWith(CONNECT))) {
      session.isUnjoined = false;
      this.#ports.unjoined?.remove(session.sid);
    }
    const last = this.#outgoing.at(-1);
    if (last && areSame(last.messages, messages)) last.sessions.push(session);
    else if (this.#outgoing.push({ messages, sessions: [session] }) === 1)
      void Promise.resolve().then(() => this.#flush());
  }

  #flush(): void {
    // A bundle has all that the running code has sent.
    const bundling = this.#outgoing.flatMap(({ sessions }) => sessions.filter((session) => session.bundling));
    for (const { conn } of bundling) this.#caught(() => conn?.sendWaiting());
    const outgoing = this.#outgoing;
    this.#outgoing = [];
    this.#parts.beforeSending?.();
    this.#effects.turn(() => {
      for (const { messages, sessions } of outgoing)
        this.#effects.send(
          sessions.filter(({ closed }) => !closed),
          messages.map(encodeMessage),
        );
    });
    for (const { conn } of outgoing.flatMap(({ sessions }) => sessions)) this.#caught(() => conn?.left());
  }

  #close(session: StockSession, isLate: boolean, discard = false): void {
    if (session.closed) return;
    const lateMs = this.#ports.now() - session.handshake.issued - this.#parts.connectTimeoutMs;
    if (session.isUnjoined && lateMs >= 0) this.#parts.onUnjoined?.();
    if (discard)
      for (const outgoing of this.#outgoing) outgoing.sessions = outgoing.sessions.filter((one) => one !== session);
    this.#flush();
    this.#end(session, isLate ? CLOSED_LATE : CLOSED);
  }

  #end(session: StockSession, closing: Closing): void {
    this.#effects.turn(() => {
      if (this.#engine.close(session, closing)) this.onClose(session, closing);
    });
  }
}

const transportOf = ({ polling }: Session): EngineTransportName => (polling ? "polling" : "websocket");

/** As the package gets them on Node. */
const bytesOf = (data: Frame): Frame =>
  typeof data === "string" ? data : Buffer.from(data.buffer, data.byteOffset, data.byteLength);

/** An event to many comes once for each of them, with the same text or bytes. */
const areSame = (some: readonly Frame[], others: readonly Frame[]): boolean =>
  some.length === others.length && some.every((data, at) => data === others[at]);
