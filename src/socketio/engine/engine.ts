// Opens, reads and closes the Engine.IO 4 sessions of one server, over WebSocket and long-polling. Returns messages and endings to
// its caller (session-server.ts), and knows nothing of the protocol above.
import { CLOSINGS, type Closing } from "../wire/closings.ts";
import { decodeFrame, encodeOpen, ENGINE_NOOP, ENGINE_PONG, frameFits, type Frame } from "../wire/engine-io.ts";
import { Addresses } from "./addresses.ts";
import { Backpressure, isFarBehind, countClosed, countLeaving, countReceived, type Meter } from "./backpressure.ts";
import type { Deadlines } from "../../clock/deadlines.ts";
import { Liveness, type LivenessOptions } from "./liveness.ts";
import type { Effect, Effects } from "./effects.ts";
import { POLL_PACKETS_MAX, PollQueue } from "./poll-queue.ts";
import { PollingTransport } from "./polling-transport.ts";
import { IDLE_PACKETS_MAX, SessionFlood } from "./session-flood.ts";
import { Session, type Handshake } from "./session.ts";
import { TransportUpgrades } from "./transport-upgrades.ts";

export type Transport = "websocket" | "polling";

/**
 * What the engine does with a session by itself, for a layer that shows it to its application: it pinged the session, saw a pong, has a
 * poll that waits for frames, answered the probe of an upgrade, and took the WebSocket over or gave the upgrade up.
 */
export type Notice = "ping" | "pong" | "polled" | "upgrading" | "upgrade" | "upgradeFailed";

export interface EngineOptions extends LivenessOptions {
  /** Bytes of one received packet; beyond it the session is closed. */
  readonly maxPayloadBytes: number;
  readonly transports: readonly Transport[];
  /** From the WebSocket of an upgrade to its probe. Default: `UPGRADE_TIMEOUT_MS`. */
  readonly upgradeTimeoutMs?: number | undefined;
  /** Bytes that a client may leave unread. Default: `POLL_QUEUE_BYTES_MAX` over long-polling, `WINDOW_BYTES_MAX` over WebSocket. */
  readonly unreadBytesMax?: number | undefined;
}

/** A session that has to be closed, and why. */
export interface Ending {
  readonly session: Session;
  readonly closing: Closing;
}

export interface EngineContext {
  readonly effects: Effects;
  readonly deadlines: Deadlines;
  readonly meter: Meter;
  /** When the runtime last answered a heartbeat of this session by itself, in ms since 1970. */
  readonly lastPongAtMs: (session: Session) => number | undefined;
  /** Spreads the periodic work of servers: from 0 to below 1, the same for the life of this server. */
  readonly phase: number;
  readonly probes: Set<Session>;
  readonly now: () => number;
  readonly newId: () => string;
  readonly notice: (session: Session, notice: Notice) => void;
}

export class Engine {
  readonly sessions = new Map<string, Session>();
  readonly polling: PollingTransport;
  readonly addresses = new Addresses();
  readonly #options: EngineOptions;
  readonly #effects: Effects;
  readonly #meter: Meter;
  readonly #liveness: Liveness;
  readonly #backpressure: Backpressure;
  readonly #upgrades: TransportUpgrades;
  readonly #idle = new SessionFlood(IDLE_PACKETS_MAX);
  readonly #endings: Ending[] = [];
  readonly #notice: EngineContext["notice"];

  constructor(options: EngineOptions, context: EngineContext) {
    const end = (session: Session, closing: Closing): void => this.#end(session, closing);
    this.#options = options;
    this.#effects = context.effects;
    this.#meter = context.meter;
    this.#notice = context.notice;
    this.polling = new PollingTransport({ ...context, end });
    this.#upgrades = new TransportUpgrades({ ...context, end }, options.upgradeTimeoutMs);
    this.#liveness = new Liveness(options, { ...context, sessions: this.sessions, end });
    this.#backpressure = new Backpressure({ ...context, sessions: this.sessions, end }, options.unreadBytesMax);
  }

  /** Takes in a new session; the first packet it gets is the handshake (EIO-1). */
  open(
    session: Session,
    { transport, isExtended, isJavaScript }: { transport: Transport; isExtended: boolean; isJavaScript: boolean },
  ): void {
    session.isExtended = isExtended;
    const canUpgrade = transport === "polling" && this.#options.transports.includes("websocket");
    if (transport === "polling")
      session.polling = new PollQueue(isJavaScript ? Infinity : POLL_PACKETS_MAX, this.#options.unreadBytesMax);
    this.#liveness.begin(session);
    this.add(session);
    const { pingIntervalMs, pingTimeoutMs, maxPayloadBytes } = this.#options;
    const open = encodeOpen({
      sid: session.sid,
      upgrades: canUpgrade ? ["websocket"] : [],
      pingInterval: pingIntervalMs,
      pingTimeout: pingTimeoutMs,
      maxPayload: maxPayloadBytes,
    });
    this.#effects.send([session], [open]);
    this.#effects.save(session);
  }

  /** Takes in a session, new or restored from its record; its peer notices nothing. */
  add(session: Session): void {
    this.sessions.set(session.sid, session);
    this.addresses.add(session);
    this.#liveness.watch(session);
  }

  /** Takes in a WebSocket for a polling session. @returns its probe, or `undefined` when it may not take over */
  openProbe(session: Session, options: { isExtended: boolean; nowMs: number }): Session | undefined {
    return this.#upgrades.open(session, options);
  }

  /** Receives a poll. @returns `false` when it will get no answer */
  poll(session: Session, nowMs: number): boolean {
    this.#upgrades.polled(session, nowMs);
    const isHeld = this.polling.poll(session, nowMs);
    if (session.polling?.waitingSinceMs !== undefined) this.#notice(session, "polled");
    return isHeld;
  }

  /** Takes in a WebSocket whose session has another one. The caller closes it at once; it counts until it is gone (LIM-1). */
  openOrphan(handshake: Handshake, nowMs: number): Session {
    const orphan = new Session("", handshake, nowMs);
    orphan.closed = true;
    this.#halfClose(orphan);
    return orphan;
  }

  #halfClose(session: Session): void {
    session.isHalfClosed = true;
    this.addresses.add(session);
  }

  /** Counts what is about to leave at the end of a turn (EIO-10). */
  countLeaving(effects: readonly Effect[]): void {
    this.#backpressure.count(countLeaving(this.#meter, effects));
  }

  /** Receives a frame. @returns whether the caller has to `read` its packets: several, if the session is extended */
  receive(session: Session, frame: Frame, nowMs: number): boolean {
    if (session.closed) return false;
    session.seenAtMs = nowMs;
    countReceived(this.#meter, session, frame);
    if (session.probeOf) {
      this.#receiveOverProbe(session, session.probeOf, frame, nowMs);
      return false;
    }
    if (!frameFits(frame, this.#options.maxPayloadBytes)) {
      this.#end(session, CLOSINGS.payloadTooLarge);
      return false;
    }
    this.#liveness.look(session, nowMs);
    // EXT-3: the runtime did not answer it.
    if (session.isExtended && frame === ENGINE_PONG) this.#effects.send([session], [ENGINE_NOOP]);
    return true;
  }

  #receiveOverProbe(probe: Session, session: Session, frame: Frame, nowMs: number): void {
    const step = this.#upgrades.receive(probe, frame);
    if (step === "probed") {
      this.#countIdle(probe, nowMs);
      this.#notice(session, "upgrading");
    }
    if (step === "upgraded") {
      this.#idle.forget(probe);
      this.polling.forget(session);
      this.#meter.count("upgraded");
      this.#liveness.watch(session);
      this.#notice(session, "upgrade");
    }
  }

  /** Reads a packet and handles all types but messages. @returns the data of a message */
  read(session: Session, frame: Frame, nowMs: number): Frame | undefined {
    const packet = decodeFrame(frame);
    switch (packet?.type) {
      case "message":
        return packet.data;
      case "close":
        this.#end(session, CLOSINGS.asked);
        break;
      // EIO-4: in this revision only the server pings; an unreadable frame ends the session.
      case "ping":
      case undefined:
        this.#end(session, CLOSINGS.parseError);
        break;
      case "pong":
        // A pong that the runtime did not absorb.
        if (packet.data === "") session.pongedAtMs = nowMs;
        else this.#backpressure.answered(session, packet.data);
        this.#effects.save(session);
        this.#countIdle(session, nowMs);
        this.#notice(session, "pong");
        break;
      // The others mean nothing on an open session, as with Socket.IO on Node.
      case "open":
      case "upgrade":
      case "noop":
        this.#countIdle(session, nowMs);
        break;
    }
    return undefined;
  }

  #countIdle(session: Session, nowMs: number): void {
    if (this.isIdleFlood(session, nowMs)) this.#end(session, CLOSINGS.idleFlood);
  }

  /** LIM-4: counts a packet without meaning. @returns whether it is one too many */
  isIdleFlood(session: Session, nowMs: number): boolean {
    return this.#idle.isOver(session, nowMs);
  }

  #end(session: Session, closing: Closing): void {
    this.#endings.push({ session, closing });
  }

  /** @returns the next session that the caller has to `close` */
  nextEnding(): Ending | undefined {
    return this.#endings.length > 0 ? this.#endings.shift() : undefined;
  }

  /** Closes a session from this side. @returns whether that ended an open session which is no probe */
  close(session: Session, closing: Closing): boolean {
    if (session.closed) return false;
    if (session.polling) this.polling.sendFinal(session, closing);
    else this.#effects.close(session, closing);
    // LIM-1: a WebSocket whose peer does not read it stays, with its buffered frames, until its transport is gone.
    if (isFarBehind(session)) this.#halfClose(session);
    return this.lost(session, closing);
  }

  /** Ends a session whose transport is gone. @returns as `close` does */
  lost(session: Session, closing: Closing): boolean {
    if (session.closed || !session.isHalfClosed) {
      this.#backpressure.gone(session);
      this.addresses.remove(session);
    }
    if (session.closed) return false;
    session.closed = true;
    session.closing = closing;
    this.#idle.forget(session);
    this.polling.forget(session);
    // A client in the middle of an upgrade polls no more, and would hear nothing if its WebSocket closed before it has switched: it gets the
    // remaining frames and the close over the WebSocket then.
    const { sid, probe, isUpgrading } = session;
    if (probe && isUpgrading && this.polling.hasFinalPayload(sid))
      this.#upgrades.outlive(probe, () => this.polling.takeFinalFrames(sid));
    else if (probe) this.close(probe, closing);
    if (session.probeOf) {
      if (session.probeOf.isUpgrading) this.#notice(session.probeOf, "upgradeFailed");
      this.#upgrades.ended(session);
      return false;
    }
    this.sessions.delete(session.sid);
    countClosed(this.#meter, closing);
    if (this.sessions.size === 0) this.#liveness.rest();
    return true;
  }
}
