// The Engine.IO 4 server: opens sessions, reads and writes their packets over WebSocket and long-polling,
// keeps their heartbeat, ends them. Knows nothing of Socket.IO; the layer above hears of messages and closings.
import { CLOSINGS, type Closing } from "../protocol/closings.ts";
import {
  decodeFrame,
  encodeOpen,
  ENGINE_NOOP,
  ENGINE_PONG,
  frameFits,
  splitPackets,
  type Frame,
} from "../protocol/engine-io.ts";
import type { Deadline, Deadlines } from "./deadlines.ts";
import { Heartbeat, type HeartbeatOptions } from "./heartbeat.ts";
import type { Outbox } from "./outbox.ts";
import { PollQueue } from "./poll-queue.ts";
import { PollingTransport } from "./polling-transport.ts";
import { Session, type Handshake } from "./session.ts";
import { receiveOverProbe } from "./transport-upgrade.ts";

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
  /** When the runtime last answered a heartbeat of this session by itself, in ms since 1970. */
  readonly lastPongAtMs: (session: Session) => number | undefined;
  /** Where in a period of its own this server stands, from 0 to below 1. */
  readonly phase: number;
}

export class Engine {
  readonly sessions = new Map<string, Session>();
  readonly polling: PollingTransport;
  readonly #options: EngineOptions;
  readonly #layer: EngineLayer;
  readonly #outbox: Outbox;
  readonly #heartbeat: Heartbeat;
  readonly #probes = new Set<Session>();
  readonly #upgradeDeadline: Deadline;

  constructor(options: EngineOptions, layer: EngineLayer, context: EngineContext) {
    this.#options = options;
    this.#layer = layer;
    this.#outbox = context.outbox;
    this.polling = new PollingTransport(this, context);
    this.#upgradeDeadline = context.deadlines.add("upgrade", (nowMs) => this.#closeProbes(nowMs));
    this.#heartbeat = new Heartbeat(options, {
      ...context,
      sessions: this.sessions,
      close: (session, closing) => this.close(session, closing),
    });
  }

  /** A new session; the first packet it gets is the handshake (EIO-1). */
  open(
    sid: string,
    handshake: Handshake,
    { transport, isExtended }: { transport: Transport; isExtended: boolean },
  ): Session {
    const session = new Session(sid, handshake, handshake.issued);
    session.isExtended = isExtended;
    const canUpgrade = transport === "polling" && this.#options.transports.includes("websocket");
    if (transport === "polling") session.polling = new PollQueue();
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
    this.#add(session);
  }

  #add(session: Session): void {
    this.sessions.set(session.sid, session);
    this.#heartbeat.watch(session);
  }

  /** A WebSocket carries the session from now on. */
  adopted(session: Session): void {
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

  /** A WebSocket that asks and never takes over must not stay for nothing. */
  #closeProbes(nowMs: number): void {
    for (const probe of this.#probes) {
      if (probe.closed) this.#probes.delete(probe);
      else if (probe.pingedAtMs + UPGRADE_TIMEOUT_MS > nowMs) {
        this.#upgradeDeadline.pull(probe.pingedAtMs + UPGRADE_TIMEOUT_MS);
      } else this.close(probe, CLOSINGS.connectTimeout);
    }
  }

  receive(session: Session, frame: Frame, nowMs: number): void | Promise<void> {
    if (session.closed) return;
    session.seenAtMs = nowMs;
    if (session.probeOf) return receiveOverProbe(this, this.#outbox, session, frame);
    if (!frameFits(frame, this.#options.maxPayloadBytes)) return this.close(session, CLOSINGS.payloadTooLarge);
    this.#heartbeat.look(nowMs);
    if (!session.isExtended) return this.#receivePacket(session, frame);
    // EXT-3: where the runtime does not answer it.
    if (frame === ENGINE_PONG) this.#outbox.send([session], [ENGINE_NOOP]);
    return this.#receivePackets(session, splitPackets(frame));
  }

  #receivePackets(session: Session, packets: readonly Frame[]): void | Promise<void> {
    const work: Array<Promise<void>> = [];
    for (const packet of packets) {
      // What follows a packet that ended the session is not heard.
      if (session.closed) break;
      const pending = this.#receivePacket(session, packet);
      if (pending) work.push(pending);
    }
    if (work.length > 0) return Promise.all(work).then(() => undefined);
  }

  #receivePacket(session: Session, frame: Frame): void | Promise<void> {
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
        return this.#outbox.save(session);
      // The rest means nothing on an open session, as with Socket.IO on Node.
      case "open":
      case "upgrade":
      case "noop":
        return;
    }
  }

  /** Ends a session from this side. */
  close(session: Session, closing: Closing): void {
    if (session.closed) return;
    if (session.polling) this.polling.sayGoodbye(session, closing);
    else this.#outbox.close(session, closing);
    this.lost(session, closing);
  }

  /** The transport is gone, whoever ended it. */
  lost(session: Session, closing: Closing): void {
    if (session.closed) return;
    session.closed = true;
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
    if (this.sessions.size === 0) this.#heartbeat.rest();
    this.#layer.onClose(session, closing);
  }
}
