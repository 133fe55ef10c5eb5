// The inputs of a server of Engine.IO sessions, each one a turn. Called by the shell of an object. Passes each message down to the
// engine and up to the layer that speaks over the sessions: Socket.IO (server/server.ts), or anything else.
import { CLOSINGS, type Closing } from "../wire/closings.ts";
import { ENGINE_CLOSE, splitPackets, type Frame } from "../wire/engine-io.ts";
import type { AddressRefusal } from "./addresses.ts";
import { Deadlines } from "../../clock/deadlines.ts";
import { Engine, type EngineOptions, type Transport } from "./engine.ts";
import { NO_METER, type Meter } from "./meter.ts";
import { Outbox, type Effect } from "./outbox.ts";
import type { Handshake, Session, SessionRecord } from "./session.ts";
import { countGiven, countPolled, weigh } from "./traffic.ts";
import type { UnjoinedQuota } from "./unjoined-quota.ts";

/** The outside world, as far as a server of sessions needs it. */
export interface SessionPorts {
  now(): number;
  /** A fresh id that cannot be guessed. */
  newId(): string;
  apply(effects: readonly Effect[]): void;
  /** The offset of this server in periodic work, from 0 to below 1: the same for as long as it exists. */
  readonly phase: number;
  /** When the runtime last answered this session's heartbeat by itself, in ms since 1970. */
  lastPongAtMs(session: Session): number | undefined;
  report(problem: string, error: unknown): void;
  /** Counts sessions that have joined nothing yet, in all objects of this isolate: LIM-5. */
  readonly unjoined?: UnjoinedQuota;
  readonly meter?: Meter;
}

/** The parts of the server that a layer works with. */
export interface LayerContext<Own extends Session = Session> {
  readonly engine: Engine;
  readonly sessions: ReadonlyMap<string, Own>;
  readonly outbox: Outbox;
  readonly deadlines: Deadlines;
  readonly meter: Meter;
}

/** The protocol over the sessions. Its methods are called within a turn. */
export interface Layer<Own extends Session = Session> {
  /** Makes a session, of the layer's own kind; the engine takes it in. */
  newSession(sid: string, handshake: Handshake, seenAtMs: number): Own;
  /** A message arrived. @returns a promise for work that outlasts the turn */
  onMessage(session: Own, data: Frame): void | Promise<void>;
  /** The session is over; nothing can be sent to it any more. */
  onClose(session: Own, closing: Closing): void;
  onOpen?(session: Own): void;
  /** The engine has taken in a session that slept, with the engine's part of its record. */
  onRestore?(session: Own, record: SessionRecord): void;
  /** All sessions that are still there are back. */
  onWake?(): void;
  /** A turn that changed the session ends, before any effect of it reaches the outside. */
  onChange?(session: Own): void;
}

export interface OpenOptions {
  /** Whether the WebSocket carries the extensions (EXT-1). */
  readonly isExtended?: boolean;
  /** Whether a client in JavaScript polls, which takes any number of packets at once (EIO-8). */
  readonly isJavaScript?: boolean;
  /** Ties the session to its connection before anything is sent to it. */
  readonly link?: (session: Session) => void;
}

export class SessionServer<Own extends Session = Session, Above extends Layer<Own> = Layer<Own>> {
  readonly outbox: Outbox;
  readonly deadlines = new Deadlines();
  readonly meter: Meter;
  protected readonly layer: Above;
  readonly #engine: Engine;
  readonly #ports: SessionPorts;

  constructor(options: EngineOptions, ports: SessionPorts, makeLayer: (context: LayerContext<Own>) => Above) {
    this.#ports = ports;
    this.meter = ports.meter ?? NO_METER;
    const { deadlines, meter } = this;
    const outbox = new Outbox({
      apply: (effects) => ports.apply(effects),
      changed: (session) => this.layer.onChange?.(this.#own(session)),
      overflow: (session) => this.#close(session, CLOSINGS.queueTooLong),
      leaving: (effects) => this.#countLeaving(effects),
    });
    this.outbox = outbox;
    this.#engine = new Engine(options, {
      outbox,
      deadlines,
      meter,
      phase: ports.phase,
      now: () => ports.now(),
      newId: () => ports.newId(),
      lastPongAtMs: (session) => ports.lastPongAtMs(session),
    });
    this.layer = makeLayer({ engine: this.#engine, sessions: this.sessions, outbox, deadlines, meter });
  }

  #countLeaving(effects: readonly Effect[]): void {
    const given = weigh(effects);
    countGiven(this.meter, given);
    countPolled(this.meter, effects);
    this.#engine.countSent(given);
    this.#closeEnding();
  }

  get sessions(): ReadonlyMap<string, Own> {
    return this.#engine.sessions as ReadonlyMap<string, Session> as ReadonlyMap<string, Own>;
  }

  /**
   * LIM-1: whether one more session may come from an address.
   * @param max sessions of one address; 0 is no limit
   * @returns the limit that it would exceed, if any
   */
  refuseAddress(address: string, max: number): AddressRefusal | undefined {
    return this.#engine.addresses.refuse(address, max);
  }

  /** LIM-5: whether one more session without an identity may not come from an address. */
  refuseUnjoined(address: string, max: number): AddressRefusal | undefined {
    return this.#ports.unjoined?.isFull(address, max, this.#ports.now()) ? "unjoined" : undefined;
  }

  open(handshake: Handshake, transport: Transport, options: OpenOptions = {}): Own {
    const { isExtended = false, isJavaScript = false, link } = options;
    return this.outbox.turn(() => {
      const session = this.layer.newSession(this.#ports.newId(), handshake, handshake.issued);
      this.#engine.open(session, { transport, isExtended, isJavaScript });
      link?.(session);
      this.meter.count(`opened:${transport}`);
      this.layer.onOpen?.(session);
      return session;
    });
  }

  /** Brings a session back from its record. Sends nothing: its peer has noticed nothing. */
  restore(record: SessionRecord, link: (session: Session) => void): void {
    const session = this.layer.newSession(record.sid, record.handshake, record.handshake.issued);
    session.restore(record);
    this.outbox.turn(() => {
      link(session);
      this.#engine.add(session);
      this.layer.onRestore?.(session, record);
    });
  }

  /** Every session that is still there was restored: the others have gone without a word. */
  wake(): void {
    this.outbox.turn(() => this.layer.onWake?.());
  }

  /** A WebSocket that wants to take over from long-polling. @returns `undefined` when it may not */
  openProbe(session: Session, isExtended = false): Session | undefined {
    return this.#engine.openProbe(session, { isExtended, nowMs: this.#ports.now() });
  }

  /** LIM-1: a WebSocket that may not, and is closed by the caller. @returns the session whose loss the caller has to report */
  turnAway(handshake: Handshake): Session {
    return this.#engine.turnAway(handshake, this.#ports.now());
  }

  /** @returns a promise while the frame's consequences outlast this turn (an asynchronous decision or handler) */
  receive(session: Session, frame: Frame): void | Promise<void> {
    return this.outbox.turn(() => this.#receive(session, frame, this.#ports.now()));
  }

  #receive(session: Session, frame: Frame, nowMs: number): void | Promise<void> {
    const isReadable = this.#engine.receive(session, frame, nowMs);
    this.#closeEnding();
    if (!isReadable || session.closed) return;
    if (!session.isExtended) return this.#read(session, frame, nowMs);
    const work: Array<Promise<void>> = [];
    for (const packet of splitPackets(frame)) {
      // Packets after the one that ended the session are dropped.
      if (session.closed) break;
      const pending = this.#read(session, packet, nowMs);
      if (pending) work.push(pending);
    }
    if (work.length > 0) return Promise.all(work).then(() => undefined);
  }

  #read(session: Session, packet: Frame, nowMs: number): void | Promise<void> {
    const message = this.#engine.read(session, packet, nowMs);
    if (message !== undefined) return this.layer.onMessage(this.#own(session), message);
    this.#closeEnding();
  }

  /** A poll came; its answer is the effect `answer-poll`. @returns `false` when it will get none */
  poll(session: Session): boolean {
    return this.#turn(() => this.#engine.polling.poll(session, this.#ports.now()));
  }

  /** A post came. @returns whether its body may be read */
  beginPost(session: Session): boolean {
    return this.#turn(() => this.#engine.polling.beginPost(session));
  }

  /** The body of a post has arrived. @returns whether all of it was in order */
  endPost(session: Session, body: string): boolean {
    return this.outbox.turn(() => {
      const frames = this.#engine.polling.endPost(session, body);
      this.#closeEnding();
      return frames !== undefined && this.#receiveAll(session, frames);
    });
  }

  #receiveAll(session: Session, frames: readonly Frame[]): boolean {
    const nowMs = this.#ports.now();
    for (const frame of frames) {
      // Work that outlasts the turn is not waited for: a handler may await an ack, which only the next post brings.
      void this.#receive(session, frame, nowMs);
      if (session.closed) return frame === ENGINE_CLOSE;
    }
    return !session.closed;
  }

  /** The body of a post was too large, or broke off: the session is over. */
  abandonPost(session: Session): void {
    // A WebSocket that took over meanwhile has nothing to do with it.
    if (session.polling) this.close(session, CLOSINGS.payloadTooLarge);
  }

  /** @returns the next payload for the client of an ended polling session; each once */
  takeFinalPayload(sid: string): string | undefined {
    return this.#engine.polling.takeFinalPayload(sid);
  }

  /** The transport is gone. */
  lost(session: Session, closing: Closing): void {
    this.outbox.turn(() => {
      if (this.#engine.lost(session, closing)) this.layer.onClose(this.#own(session), closing);
    });
  }

  /** Closes one session from this side. */
  close(session: Session, closing: Closing): void {
    this.outbox.turn(() => this.#close(session, closing));
  }

  #close(session: Session, closing: Closing): void {
    if (this.#engine.close(session, closing)) this.layer.onClose(this.#own(session), closing);
  }

  /** Runs the deadlines that are due. @returns the names of the deadlines that ran */
  tick(): string[] {
    return this.#turn(() =>
      this.deadlines.runDue(this.#ports.now(), (name, error) => this.#ports.report(`deadline ${name} failed`, error)),
    );
  }

  /** A turn that ends with closing the sessions that the engine found to be over. */
  #turn<Result>(run: () => Result): Result {
    return this.outbox.turn(() => {
      const result = run();
      this.#closeEnding();
      return result;
    });
  }

  /** Every session that reaches the layer was made by it: probes end in the engine. */
  #own(session: Session): Own {
    return session as Own;
  }

  #closeEnding(): void {
    for (let ending = this.#engine.nextEnding(); ending; ending = this.#engine.nextEnding())
      this.#close(ending.session, ending.closing);
  }
}
