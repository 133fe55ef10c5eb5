// The Engine.IO 4 server: opens sessions, reads and writes their packets over WebSocket and long-polling,
// keeps their heartbeat, ends them. Knows nothing of Socket.IO; the layer above hears of messages and closings.
import { CLOSINGS, type Closing } from "../wire/closings.ts";
import {
  decodeFrame,
  encodeOpen,
  ENGINE_NOOP,
  ENGINE_PONG,
  frameFits,
  splitPackets,
  type Frame,
} from "../wire/engine-io.ts";
import { Addresses } from "./addresses.ts";
import type { Meter } from "../../metrics/meter.ts";
import type { Deadline, Deadlines } from "../../clock/deadlines.ts";
import { Heartbeat, type HeartbeatOptions } from "./heartbeat.ts";
import type { Outbox } from "./outbox.ts";
import { POLL_PACKETS_MAX, PollQueue } from "./poll-queue.ts";
import { PollingTransport } from "./polling-transport.ts";
import { IDLE_PACKETS_MAX, SessionFlood } from "./session-flood.ts";
import { Session, type Handshake } from "./session.ts";
import { countClosed, countReceived, type Given } from "./traffic.ts";
import { receiveOverProbe } from "./transport-upgrade.ts";
import { isFarBehind, Unread } from "./unread.ts";
import { UnreadSampler } from "./unread-sampler.ts";

/** From the WebSocket's opening to its taking over; Node's default for the same. */
export const UPGRADE_TIMEOUT_MS = 10_000;

export type Transport = "websocket" | "polling";

export interface EngineOptions extends HeartbeatOptions {
  /** Bytes of one received packet; beyond it the session is closed. */
  readonly maxPayloadBytes: number;
  readonly transports: readonly Transport[];
}

export interface EngineLayer {
  /** A message packet arrived. A promise stands for work that outlasts the turn. */
  onMessage(session: Session, data: Frame): void | Promise<void>;
  /** The session is over; nothing can be sent to it any more. */
  onClose(session: Session, closing: Closing): void;
}

export interface EngineContext {
  readonly outbox: Outbox;
  readonly deadlines: Deadlines;
  readonly meter: Meter;
  /** When the runtime last answered a heartbeat of this session by itself, in ms since 1970. */
  readonly lastPongAtMs: (session: Session) => number | undefined;
  /** Where in a period of its own this server stands, from 0 to below 1. */
  readonly phase: number;
  readonly now: () => number;
  readonly newId: () => string;
}

export class Engine {
  readonly sessions = new Map<string, Session>();
  readonly polling: PollingTransport;
  readonly addresses = new Addresses();
  readonly #options: EngineOptions;
  readonly #layer: EngineLayer;
  readonly #outbox: Outbox;
  readonly #meter: Meter;
  readonly #heartbeat: Heartbeat;
  readonly #unread: Unread;
  readonly #unreadSampler: UnreadSampler;
  readonly #probes = new Set<Session>();
  readonly #idle = new SessionFlood(IDLE_PACKETS_MAX);
  readonly #upgradeDeadline: Deadline;

  constructor(options: EngineOptions, layer: EngineLayer, context: EngineContext) {
    this.#options = options;
    this.#layer = layer;
    this.#outbox = context.outbox;
    this.#meter = context.meter;
    this.polling = new PollingTransport(this, context);
    this.#upgradeDeadline = context.deadlines.add("upgrade", (nowMs) => this.#closeProbes(nowMs));
    const close = (session: Session, closing: Closing): void => this.close(session, closing);
    this.#heartbeat = new Heartbeat(options, { ...context, sessions: this.sessions, close });
    this.#unread = new Unread({ ...context, close });
    this.#unreadSampler = new UnreadSampler({ ...context, sessions: this.sessions, unread: this.#unread });
  }

  /** A new session; the first packet it gets is the handshake (EIO-1). */
  open(
    sid: string,
    handshake: Handshake,
    { transport, isExtended, isJavaScript }: { transport: Transport; isExtended: boolean; isJavaScript: boolean },
  ): Session {
    const session = new Session(sid, handshake, handshake.issued);
    session.isExtended = isExtended;
    const canUpgrade = transport === "polling" && this.#options.transports.includes("websocket");
    if (transport === "polling") session.polling = new PollQueue(isJavaScript ? Infinity : POLL_PACKETS_MAX);
    this.#heartbeat.begin(session);
    this.#add(session);
    const { pingIntervalMs, pingTimeoutMs, maxPayloadBytes } = this.#options;
    const open = encodeOpen({
      sid,
      upgrades: canUpgrade ? ["websocket"] : [],
      pingInterval: pingIntervalMs,
      pingTimeout: pingTimeoutMs,
      maxPayload: maxPayloadBytes,
    });
    this.#outbox.send([session], [open]);
    this.#outbox.save(session);
    return session;
  }

  /** A session that slept; its peer notices nothing. */
  restore(session: Session): void {
    session.reading.restored();
    this.#add(session);
  }

  #add(session: Session): void {
    this.sessions.set(session.sid, session);
    this.addresses.add(session);
    this.#heartbeat.watch(session);
  }

  /** What is about to leave at the end of a turn (EIO-10). */
  countUnread(given: readonly Given[]): void {
    this.#unread.count(given);
    this.#unreadSampler.sample();
  }

  /** The WebSocket of a probe carries the session from now on. */
  adopted(session: Session, probe: Session): void {
    this.#probes.delete(probe);
    this.#idle.forget(probe);
    this.#meter.count("upgraded");
    this.#heartbeat.watch(session);
  }

  /** A WebSocket for a session that is carried by long-polling so far. @returns `undefined` when it may not take over */
  openProbe(session: Session, { isExtended, nowMs }: { isExtended: boolean; nowMs: number }): Session | undefined {
    if (!session.polling || session.probe) return undefined;
    const probe = new Session(session.sid, session.handshake, nowMs);
    probe.isExtended = isExtended;
    probe.probeOf = session;
    session.probe = probe;
    this.#probes.add(probe);
    this.#upgradeDeadline.pull(nowMs + UPGRADE_TIMEOUT_MS);
    return probe;
  }

  /** A WebSocket for a session that has another one: it is to be closed at once, and counts until it is gone (LIM-1). */
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

  /** A WebSocket that asks and never takes over must not stay for nothing. */
  #closeProbes(nowMs: number): void {
    for (const probe of this.#probes) {
      if (probe.pingedAtMs + UPGRADE_TIMEOUT_MS > nowMs) {
        this.#upgradeDeadline.pull(probe.pingedAtMs + UPGRADE_TIMEOUT_MS);
      } else this.close(probe, CLOSINGS.connectTimeout);
    }
  }

  receive(session: Session, frame: Frame, nowMs: number): void | Promise<void> {
    if (session.closed) return;
    session.seenAtMs = nowMs;
    countReceived(this.#meter, session, frame);
    if (session.probeOf) return receiveOverProbe(this, this.#outbox, session, { frame, nowMs });
    if (!frameFits(frame, this.#options.maxPayloadBytes)) return this.close(session, CLOSINGS.payloadTooLarge);
    this.#heartbeat.look(session, nowMs);
    if (!session.isExtended) return this.#receivePacket(session, frame, nowMs);
    // EXT-3: where the runtime does not answer it.
    if (frame === ENGINE_PONG) this.#outbox.send([session], [ENGINE_NOOP]);
    return this.#receivePackets(session, splitPackets(frame), nowMs);
  }

  #receivePackets(session: Session, packets: readonly Frame[], nowMs: number): void | Promise<void> {
    const work: Array<Promise<void>> = [];
    for (const packet of packets) {
      // What follows a packet that ended the session is not heard.
      if (session.closed) break;
      const pending = this.#receivePacket(session, packet, nowMs);
      if (pending) work.push(pending);
    }
    if (work.length > 0) return Promise.all(work).then(() => undefined);
  }

  #receivePacket(session: Session, frame: Frame, nowMs: number): void | Promise<void> {
    const packet = decodeFrame(frame);
    switch (packet?.type) {
      case "message":
        return this.#layer.onMessage(session, packet.data);
      case "close":
        return this.close(session, CLOSINGS.asked);
      // EIO-4: heartbeats go the other way in this revision, and anything unreadable ends the session.
      case "ping":
      case undefined:
        return this.close(session, CLOSINGS.parseError);
      // Its sign of life; only where the runtime does not absorb it does it come so far.
      case "pong":
        return this.#ponged(session, packet.data, nowMs);
      // The rest means nothing on an open session, as with Socket.IO on Node.
      case "open":
      case "upgrade":
      case "noop":
        return this.passOver(session, nowMs);
    }
  }

  #ponged(session: Session, data: string, nowMs: number): void {
    if (data === "") session.pongedAtMs = nowMs;
    else this.#unread.answered(session, data);
    this.#outbox.save(session);
    this.passOver(session, nowMs);
  }

  /** A packet had no meaning, or came without being asked for: LIM-4. */
  passOver(session: Session, nowMs: number): void {
    if (this.#idle.isOver(session, nowMs)) this.close(session, CLOSINGS.idleFlood);
  }

  /** Ends a session from this side. */
  close(session: Session, closing: Closing): void {
    if (session.closed) return;
    if (session.polling) this.polling.sayGoodbye(session, closing);
    else this.#outbox.close(session, closing);
    // LIM-1: a socket that nobody reads stays, with all that is kept for it, until its transport goes.
    if (isFarBehind(session)) this.#linger(session);
    this.lost(session, closing);
  }

  /** The transport is gone, whoever ended it. */
  lost(session: Session, closing: Closing): void {
    if (session.closed || !session.isLingering) this.#vanished(session);
    if (session.closed) return;
    session.closed = true;
    this.#idle.forget(session);
    // A client on its way to the WebSocket polls no more: it hears the rest when it arrives there.
    const frames = session.isUpgrading ? this.polling.lastWordsOf(session.sid) : [];
    if (session.probe && frames.length > 0) session.probe.farewell = { frames, closing };
    else if (session.probe) this.close(session.probe, closing);
    if (session.probeOf) {
      session.probeOf.probe = undefined;
      this.#probes.delete(session);
      // Otherwise its polls would end at once for ever.
      session.probeOf.isUpgrading = false;
      return;
    }
    this.sessions.delete(session.sid);
    countClosed(this.#meter, closing);
    if (this.sessions.size === 0) this.#heartbeat.rest();
    this.#layer.onClose(session, closing);
  }

  #vanished(session: Session): void {
    this.#unread.gone(session);
    this.addresses.remove(session);
  }
}
