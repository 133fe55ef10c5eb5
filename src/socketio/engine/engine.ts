// The Engine.IO 4 sessions of one server: opens them, reads their packets over WebSocket and long-polling, keeps their heartbeat,
// closes them. Returns messages and endings to its caller (session-server.ts), and knows nothing of the protocol above.
import { CLOSINGS, type Closing } from "../wire/closings.ts";
import { decodeFrame, encodeOpen, ENGINE_NOOP, ENGINE_PONG, frameFits, type Frame } from "../wire/engine-io.ts";
import { Addresses } from "./addresses.ts";
import { BacklogSampler } from "./backlog-sampler.ts";
import { Backpressure, isFarBehind } from "./backpressure.ts";
import type { Deadlines } from "../../clock/deadlines.ts";
import { Heartbeat, type HeartbeatOptions } from "./heartbeat.ts";
import type { Meter } from "./meter.ts";
import type { Outbox } from "./outbox.ts";
import { POLL_PACKETS_MAX, PollQueue } from "./poll-queue.ts";
import { PollingTransport } from "./polling-transport.ts";
import { IDLE_PACKETS_MAX, SessionFlood } from "./session-flood.ts";
import { Session, type Handshake } from "./session.ts";
import { countClosed, countReceived, type Given } from "./traffic.ts";
import { TransportUpgrades } from "./transport-upgrades.ts";

export type Transport = "websocket" | "polling";

export interface EngineOptions extends HeartbeatOptions {
  /** Bytes of one received packet; beyond it the session is closed. */
  readonly maxPayloadBytes: number;
  readonly transports: readonly Transport[];
}

/** A session that has to be closed, and why. */
export interface Ending {
  readonly session: Session;
  readonly closing: Closing;
}

export interface EngineContext {
  readonly outbox: Outbox;
  readonly deadlines: Deadlines;
  readonly meter: Meter;
  /** When the runtime last answered a heartbeat of this session by itself, in ms since 1970. */
  readonly lastPongAtMs: (session: Session) => number | undefined;
  /** The offset of this server in periodic work, from 0 to below 1. */
  readonly phase: number;
  readonly now: () => number;
  readonly newId: () => string;
}

export class Engine {
  readonly sessions = new Map<string, Session>();
  readonly polling: PollingTransport;
  readonly addresses = new Addresses();
  readonly #options: EngineOptions;
  readonly #outbox: Outbox;
  readonly #meter: Meter;
  readonly #heartbeat: Heartbeat;
  readonly #backpressure: Backpressure;
  readonly #backlogSampler: BacklogSampler;
  readonly #upgrades: TransportUpgrades;
  readonly #idle = new SessionFlood(IDLE_PACKETS_MAX);
  readonly #endings: Ending[] = [];

  constructor(options: EngineOptions, context: EngineContext) {
    const end = (session: Session, closing: Closing): void => this.#end(session, closing);
    this.#options = options;
    this.#outbox = context.outbox;
    this.#meter = context.meter;
    this.polling = new PollingTransport({ ...context, end });
    this.#upgrades = new TransportUpgrades({ ...context, end });
    this.#heartbeat = new Heartbeat(options, { ...context, sessions: this.sessions, end });
    this.#backpressure = new Backpressure({ ...context, end });
    this.#backlogSampler = new BacklogSampler({
      ...context,
      sessions: this.sessions,
      backpressure: this.#backpressure,
    });
  }

  /** Takes in a new session; the first packet it gets is the handshake (EIO-1). */
  open(
    session: Session,
    { transport, isExtended, isJavaScript }: { transport: Transport; isExtended: boolean; isJavaScript: boolean },
  ): void {
    session.isExtended = isExtended;
    const canUpgrade = transport === "polling" && this.#options.transports.includes("websocket");
    if (transport === "polling") session.polling = new PollQueue(isJavaScript ? Infinity : POLL_PACKETS_MAX);
    this.#heartbeat.begin(session);
    this.add(session);
    const { pingIntervalMs, pingTimeoutMs, maxPayloadBytes } = this.#options;
    const open = encodeOpen({
      sid: session.sid,
      upgrades: canUpgrade ? ["websocket"] : [],
      pingInterval: pingIntervalMs,
      pingTimeout: pingTimeoutMs,
      maxPayload: maxPayloadBytes,
    });
    this.#outbox.send([session], [open]);
    this.#outbox.save(session);
  }

  /** Takes in a session, new or restored from its record; its peer notices nothing. */
  add(session: Session): void {
    this.sessions.set(session.sid, session);
    this.addresses.add(session);
    this.#heartbeat.watch(session);
  }

  /** A WebSocket for a session that is carried by long-polling so far. @returns `undefined` when it may not take over */
  openProbe(session: Session, options: { isExtended: boolean; nowMs: number }): Session | undefined {
    return this.#upgrades.open(session, options);
  }

  /** A WebSocket for a session that has another one: the caller closes it at once, and it counts until it is gone (LIM-1). */
  turnAway(handshake: Handshake, nowMs: number): Session {
    const stray = new Session("", handshake, nowMs);
    stray.closed = true;
    this.#linger(stray);
    return stray;
  }

  #linger(session: Session): void {
    session.isLingering = true;
    this.addresses.add(session);
  }

  /** Counts the frames that are about to leave at the end of a turn (EIO-10). */
  countSent(given: readonly Given[]): void {
    this.#backpressure.count(given);
    this.#backlogSampler.sample();
  }

  /** A frame arrived. @returns whether the caller is to `read` its packets: several, where the session is extended */
  receive(session: Session, frame: Frame, nowMs: number): boolean {
    if (session.closed) return false;
    session.seenAtMs = nowMs;
    countReceived(this.#meter, session, frame);
    if (session.probeOf) return this.#receiveOverProbe(session, session.probeOf, frame, nowMs);
    if (!frameFits(frame, this.#options.maxPayloadBytes)) {
      this.#end(session, CLOSINGS.payloadTooLarge);
      return false;
    }
    this.#heartbeat.look(session, nowMs);
    // EXT-3: where the runtime does not answer it.
    if (session.isExtended && frame === ENGINE_PONG) this.#outbox.send([session], [ENGINE_NOOP]);
    return true;
  }

  #receiveOverProbe(probe: Session, session: Session, frame: Frame, nowMs: number): false {
    const done = this.#upgrades.receive(probe, frame);
    if (done === "probed") this.#passOver(probe, nowMs);
    if (done === "upgraded") {
      this.#idle.forget(probe);
      this.#meter.count("upgraded");
      this.#heartbeat.watch(session);
    }
    return false;
  }

  /** @returns the data of the packet, where it is a message; the engine deals with the other packets itself */
  read(session: Session, frame: Frame, nowMs: number): Frame | undefined {
    const packet = decodeFrame(frame);
    switch (packet?.type) {
      case "message":
        return packet.data;
      case "close":
        this.#end(session, CLOSINGS.asked);
        break;
      // EIO-4: heartbeats go the other way in this revision, and anything unreadable ends the session.
      case "ping":
      case undefined:
        this.#end(session, CLOSINGS.parseError);
        break;
      case "pong":
        this.#ponged(session, packet.data, nowMs);
        break;
      // The rest means nothing on an open session, as with Socket.IO on Node.
      case "open":
      case "upgrade":
      case "noop":
        this.#passOver(session, nowMs);
        break;
    }
    return undefined;
  }

  /** A pong that the runtime did not absorb. */
  #ponged(session: Session, data: string, nowMs: number): void {
    if (data === "") session.pongedAtMs = nowMs;
    else this.#backpressure.answered(session, data);
    this.#outbox.save(session);
    this.#passOver(session, nowMs);
  }

  #passOver(session: Session, nowMs: number): void {
    if (this.isIdleFlood(session, nowMs)) this.#end(session, CLOSINGS.idleFlood);
  }

  /** Counts a packet without meaning. @returns whether it is one too many: LIM-4 */
  isIdleFlood(session: Session, nowMs: number): boolean {
    return this.#idle.isOver(session, nowMs);
  }

  #end(session: Session, closing: Closing): void {
    this.#endings.push({ session, closing });
  }

  /** @returns a session that the caller has to `close`, if there is any */
  nextEnding(): Ending | undefined {
    return this.#endings.length > 0 ? this.#endings.shift() : undefined;
  }

  /** Closes a session from this side. @returns whether a session ended by it that was open, and is no probe */
  close(session: Session, closing: Closing): boolean {
    if (session.closed) return false;
    if (session.polling) this.polling.sayGoodbye(session, closing);
    else this.#outbox.close(session, closing);
    // LIM-1: a socket that its peer does not read stays, with all that is kept for it, until its transport goes.
    if (isFarBehind(session)) this.#linger(session);
    return this.lost(session, closing);
  }

  /** The transport is gone, closed by either side. @returns as `close` does */
  lost(session: Session, closing: Closing): boolean {
    if (session.closed || !session.isLingering) this.#vanished(session);
    if (session.closed) return false;
    session.closed = true;
    this.#idle.forget(session);
    // A client on its way to the WebSocket polls no more: it gets the remaining frames when it arrives there.
    const frames = session.isUpgrading ? this.polling.finalFramesOf(session.sid) : [];
    if (session.probe && frames.length > 0) session.probe.final = { frames, closing };
    else if (session.probe) this.close(session.probe, closing);
    if (session.probeOf) {
      this.#upgrades.ended(session);
      return false;
    }
    this.sessions.delete(session.sid);
    countClosed(this.#meter, closing);
    if (this.sessions.size === 0) this.#heartbeat.rest();
    return true;
  }

  #vanished(session: Session): void {
    this.#backpressure.gone(session);
    this.addresses.remove(session);
  }
}
