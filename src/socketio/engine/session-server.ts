// A server of Engine.IO sessions: takes each input as a turn, has the engine read it, and passes messages to the layer above, which is
// Socket.IO (server/server.ts) or another protocol. Called by the shell of an object.
import { Deadlines } from "../../clock/deadlines.ts";
import { CLOSINGS, type Closing } from "../wire/closings.ts";
import { splitPackets, type Frame } from "../wire/engine-io.ts";
import type { AddressRefusal } from "./addresses.ts";
import { Effects, type Effect } from "./effects.ts";
import { Engine, type EngineOptions, type Notice, type Transport } from "./engine.ts";
import type { Handshake, Session, SessionRecord } from "./session.ts";
import { NO_METER, type Meter } from "./backpressure.ts";
import type { UnjoinedQuota } from "./unjoined-quota.ts";

/** The functions of the outside world that a server of sessions calls. */
export interface SessionPorts {
  now(): number;
  /** A fresh id that cannot be guessed. */
  newId(): string;
  apply(effects: readonly Effect[]): void;
  /** Spreads the periodic work of servers: from 0 to below 1, the same for the life of this server. */
  readonly phase: number;
  /** The last pong of this session that the runtime absorbed, in ms since 1970. */
  lastPongAtMs(session: Session): number | undefined;
  report(problem: string, error: unknown): void;
  /** The WebSockets of the object that want to take over from long-polling; those of a former server among them (EIO-9). */
  readonly probes?: Set<Session>;
  /** LIM-5: counts unjoined sessions in all objects of this isolate. */
  readonly unjoined?: UnjoinedQuota;
  readonly meter?: Meter;
}

/** The parts of the server that a layer works with. */
export interface LayerContext<Own extends Session = Session> {
  readonly engine: Engine;
  readonly sessions: ReadonlyMap<string, Own>;
  readonly effects: Effects;
  readonly deadlines: Deadlines;
  readonly meter: Meter;
}

/** The protocol over the sessions. Its methods are called within a turn. */
export interface Layer<Own extends Session = Session> {
  /**
   * Makes a session of the layer's own class.
   * @param request `OpenOptions.request`; none for a session that slept
   */
  newSession(sid: string, handshake: Handshake, seenAtMs: number, request?: unknown): Own;
  /** Handles a message. @returns a promise for work that outlasts the turn */
  onMessage(session: Own, data: Frame): void | Promise<void>;
  /** Called before the server closes a session: it can get its last messages. */
  onClosing?(session: Own, closing: Closing): void;
  /** Called when the session is over; nothing can be sent to it any more. */
  onClose(session: Own, closing: Closing): void;
  onOpen?(session: Own): void;
  /** Called for what the engine did with the session by itself. */
  onNotice?(session: Own, notice: Notice): void;
  /** Called for a session that slept, after the engine has restored its part of the record. */
  onRestore?(session: Own, record: SessionRecord): void;
  /** Called when all sessions that slept are restored. */
  onWake?(): void;
  /** Called when the server is no longer in use. */
  onStop?(): void;
  /** Called at the end of a turn that changed the session, before the shell carries out its effects. */
  onChange?(session: Own): void;
}

export interface OpenOptions {
  /** Whether the WebSocket carries the extensions (EXT-1). */
  readonly isExtended?: boolean;
  /** Whether the client is in JavaScript, and takes any number of packets in one poll (EIO-8). */
  readonly isJavaScript?: boolean;
  /** Its id. Default: a new one. */
  readonly sid?: string | undefined;
  /** What the shell knows of the request that opens it, for a layer that shows it to its application. */
  readonly request?: unknown;
  /** Ties the session to its connection before anything is sent to it. */
  readonly pair?: (session: Session) => void;
}

export class SessionServer<Own extends Session = Session, Above extends Layer<Own> = Layer<Own>> {
  readonly effects: Effects;
  readonly deadlines = new Deadlines();
  readonly meter: Meter;
  protected readonly layer: Above;
  readonly #engine: Engine;
  readonly #ports: SessionPorts;

  constructor(options: EngineOptions, ports: SessionPorts, makeLayer: (context: LayerContext<Own>) => Above) {
    this.#ports = ports;
    this.meter = ports.meter ?? NO_METER;
    const { deadlines, meter } = this;
    const effects = new Effects({
      apply: (effects) => ports.apply(effects),
      changed: (session) => this.layer.onChange?.(this.#own(session)),
      overflow: (session) => this.#close(session, CLOSINGS.queueTooLong),
      leaving: (leaving) => {
        this.#engine.countLeaving(leaving);
        this.#closeEnding();
      },
    });
    this.effects = effects;
    this.#engine = new Engine(options, {
      probes: new Set(),
      ...ports,
      effects,
      deadlines,
      meter,
      notice: (session, notice) => this.layer.onNotice?.(this.#own(session), notice),
    });
    this.layer = makeLayer({ engine: this.#engine, sessions: this.sessions, effects, deadlines, meter });
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
    const { isExtended = false, isJavaScript = false, sid = this.#ports.newId(), request, pair } = options;
    return this.effects.turn(() => {
      const session = this.layer.newSession(sid, handshake, handshake.issued, request);
      this.#engine.open(session, { transport, isExtended, isJavaScript });
      pair?.(session);
      this.meter.count(`opened:${transport}`);
      this.layer.onOpen?.(session);
      return session;
    });
  }

  /** Brings a session back from its record. Sends nothing: its peer has noticed nothing. */
  restore(record: SessionRecord, pair: (session: Session) => void): void {
    const session = this.layer.newSession(record.sid, record.handshake, record.handshake.issued);
    session.restore(record);
    this.effects.turn(() => {
      pair(session);
      this.#engine.add(session);
      this.layer.onRestore?.(session, record);
    });
  }

  /** Called when every open session was restored; the others ended while the object slept. */
  wake(): void {
    this.effects.turn(() => this.layer.onWake?.());
  }

  /** Called when another server takes over, once all sessions are closed. */
  stop(): void {
    this.layer.onStop?.();
  }

  /** Takes in a WebSocket for a polling session. @returns its probe, or `undefined` when it may not take over */
  openProbe(session: Session, isExtended = false): Session | undefined {
    return this.#engine.openProbe(session, { isExtended, nowMs: this.#ports.now() });
  }

  /** LIM-1: takes in a WebSocket that may not take over; the caller closes it. @returns the session to report as `lost` */
  openOrphan(handshake: Handshake): Session {
    return this.#engine.openOrphan(handshake, this.#ports.now());
  }

  /** Receives a frame. @returns a promise for work that outlasts the turn: an asynchronous decision or handler */
  receive(session: Session, frame: Frame): void | Promise<void> {
    return this.effects.turn(() => this.#receive(session, frame, this.#ports.now()));
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

  /** Receives a poll; its answer is the effect `answer-poll`. @returns `false` when it will get none */
  poll(session: Session): boolean {
    return this.#turn(() => this.#engine.poll(session, this.#ports.now()));
  }

  /** Receives a post. @returns whether its body may be read */
  beginPost(session: Session): boolean {
    return this.#turn(() => this.#engine.polling.beginPost(session));
  }

  /**
   * Receives the body of a post. The end of a session in its course, or before, is no fault of the request: its client would take a refusal
   * for a broken connection, and never fetch its last events.
   * @returns whether the server could read it
   */
  endPost(session: Session, body: string): boolean {
    return this.effects.turn(() => {
      const frames = this.#engine.polling.endPost(session, body);
      this.#closeEnding();
      const nowMs = this.#ports.now();
      for (const frame of frames ?? []) {
        if (session.closed) break;
        // Does not wait for work that outlasts the turn: a handler may await an ack, which only the next post brings.
        void this.#receive(session, frame, nowMs);
      }
      return frames !== undefined && !this.#engine.polling.isBroken(session);
    });
  }

  /** Ends the session: the body of a post was too large, or broke off. */
  abandonPost(session: Session): void {
    // A session that was upgraded meanwhile goes on.
    if (session.polling) this.close(session, CLOSINGS.payloadTooLarge);
  }

  /** Whether the client of an ended polling session has still something to fetch. */
  hasFinalPayload(sid: string): boolean {
    return this.#engine.polling.hasFinalPayload(sid);
  }

  /** @returns the next payload for the client of an ended polling session; each once */
  takeFinalPayload(sid: string): string | undefined {
    return this.#engine.polling.takeFinalPayload(sid);
  }

  /** Ends a session whose transport is gone. */
  lost(session: Session, closing: Closing): void {
    this.effects.turn(() => {
      if (this.#engine.lost(session, closing)) this.layer.onClose(this.#own(session), closing);
    });
  }

  /** Closes one session from this side. */
  close(session: Session, closing: Closing): void {
    this.effects.turn(() => this.#close(session, closing));
  }

  #close(session: Session, closing: Closing): void {
    if (!session.probeOf) this.layer.onClosing?.(this.#own(session), closing);
    if (this.#engine.close(session, closing)) this.layer.onClose(this.#own(session), closing);
  }

  /** Runs the deadlines that are due. @returns the names of the deadlines that ran */
  tick(): string[] {
    return this.#turn(() =>
      this.deadlines.runDue(this.#ports.now(), (name, error) => this.#ports.report(`deadline ${name} failed`, error)),
    );
  }

  /** Runs a turn and then closes the sessions that the engine found to be over. */
  #turn<Result>(run: () => Result): Result {
    return this.effects.turn(() => {
      const result = run();
      this.#closeEnding();
      return result;
    });
  }

  /** The layer made every session that reaches it; probes stay in the engine. */
  #own(session: Session): Own {
    return session as Own;
  }

  #closeEnding(): void {
    for (let ending = this.#engine.nextEnding(); ending; ending = this.#engine.nextEnding())
      this.#close(ending.session, ending.closing);
  }
}
