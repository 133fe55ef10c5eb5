// The inputs of a server of Engine.IO sessions, each one a turn: what a shell calls. Socket.IO is built on
// it (server.ts); anything else that speaks Engine.IO can be, with a handler for messages.
import type { Closing } from "../wire/closings.ts";
import { CLOSINGS } from "../wire/closings.ts";
import type { Frame } from "../wire/engine-io.ts";
import { Meter } from "../../metrics/meter.ts";
import type { AddressRefusal } from "../engine/addresses.ts";
import { Deadlines } from "../../clock/deadlines.ts";
import { Engine, type EngineLayer, type EngineOptions, type Transport } from "../engine/engine.ts";
import { Outbox, type Effect } from "../engine/outbox.ts";
import type { Reach, ServerSideAnswer, ServerSideEvent } from "./server-side.ts";
import type { UnjoinedSessions } from "../engine/unjoined-sessions.ts";
import { countGiven, countPolled, weigh } from "../engine/traffic.ts";
import { Session, type Handshake, type SessionRecord } from "../engine/session.ts";
import type { TokenPorts } from "./token-life.ts";

/** The outside world, as far as a server needs it. */
export interface ServerPorts {
  now(): number;
  /** A fresh id that nobody can guess. */
  newId(): string;
  apply(effects: readonly Effect[]): void;
  /** Where in a period of its own this server stands, from 0 to below 1: the same for as long as it exists. */
  readonly phase: number;
  /** When the runtime last answered this session's heartbeat by itself, in ms since 1970. */
  lastPongAtMs(session: Session): number | undefined;
  report(problem: string, error: unknown): void;
  /** Verifies the tokens of CONNECTs. Without it nobody's is looked at, and namespaces let in whom they like. */
  readonly tokens?: TokenPorts;
  /** The way to the servers of other rooms, where there is one. */
  readonly reach?: Reach;
  /** Who has joined nothing yet, in all objects of this isolate: LIM-5. */
  readonly unjoined?: UnjoinedSessions;
  /** Counts what happens, where anybody wants to know. */
  readonly meter?: Meter;
}

export interface OpenOptions {
  /** Whether the WebSocket carries the extensions (EXT-1). */
  readonly isExtended?: boolean;
  /** Whether a client in JavaScript polls, which takes any number of packets at once (EIO-8). */
  readonly isJavaScript?: boolean;
  /** Ties the session to its connection before anything is sent to it. */
  readonly link?: (session: Session) => void;
}

export abstract class SessionServer implements EngineLayer {
  readonly outbox: Outbox;
  readonly deadlines = new Deadlines();
  readonly meter: Meter;
  protected readonly engine: Engine;
  protected readonly ports: ServerPorts;

  constructor(options: EngineOptions, ports: ServerPorts) {
    this.ports = ports;
    this.meter = ports.meter ?? new Meter();
    this.outbox = new Outbox({
      apply: (effects) => ports.apply(effects),
      remember: (session) => this.onChange?.(session),
      overflow: (session) => this.engine.close(session, CLOSINGS.queueTooLong),
      leaving: (effects) => {
        const given = weigh(effects);
        countGiven(this.meter, given);
        countPolled(this.meter, effects);
        this.engine.countUnread(given);
      },
    });
    this.engine = new Engine(options, this, {
      outbox: this.outbox,
      deadlines: this.deadlines,
      meter: this.meter,
      phase: ports.phase,
      now: () => ports.now(),
      newId: () => ports.newId(),
      lastPongAtMs: (session) => ports.lastPongAtMs(session),
    });
  }

  abstract onMessage(session: Session, data: Frame): void | Promise<void>;
  abstract onClose(session: Session, closing: Closing): void;

  /** Called in the turn that opened a session. */
  protected onOpen?(session: Session): void;

  /** Called in the turn that brought a session back from its record. */
  protected onRestore?(session: Session, record: SessionRecord): void;

  /** Called at the end of a turn that changed a session, before any effect of it reaches the outside. */
  protected onChange?(session: Session): void;

  /** Called in the turn in which all sessions are back. */
  protected onWake?(): void;

  get sessions(): ReadonlyMap<string, Session> {
    return this.engine.sessions;
  }

  /**
   * LIM-1: whether one more session may come from an address.
   * @param max sessions of one address; 0 is no limit
   * @returns what is full: the `address` has its share, or the `object` all it can hold
   */
  refuseAddress(address: string, max: number): AddressRefusal | undefined {
    return this.engine.addresses.refuse(address, max);
  }

  /** LIM-5: whether one more session without proof of who it is may not come from an address. */
  refuseUnjoined(address: string, max: number): AddressRefusal | undefined {
    return this.ports.unjoined?.isFull(address, max, this.ports.now()) ? "unjoined" : undefined;
  }

  open(handshake: Handshake, transport: Transport, options: OpenOptions = {}): Session {
    const { isExtended = false, isJavaScript = false, link } = options;
    return this.outbox.turn(() => {
      const session = this.engine.open(this.ports.newId(), handshake, { transport, isExtended, isJavaScript });
      link?.(session);
      this.meter.count(`opened:${transport}`);
      this.onOpen?.(session);
      return session;
    });
  }

  /** Brings a session back from its record. Sends nothing: its peer has noticed nothing. */
  restore(record: SessionRecord, link: (session: Session) => void): void {
    const session = new Session(record.sid, record.handshake, record.seenAtMs ?? record.handshake.issued);
    session.isExtended = record.isExtended ?? false;
    session.nextAckId = record.nextAckId;
    session.setsBeat = record.setsBeat ?? false;
    session.pingedAtMs = record.pingedAtMs ?? record.handshake.issued;
    this.outbox.turn(() => {
      link(session);
      this.engine.restore(session);
      this.onRestore?.(session, record);
    });
  }

  /** Every session that is still there was restored: whoever else was there has gone without a word. */
  wake(): void {
    this.outbox.turn(() => this.onWake?.());
  }

  /** What has to be kept of a session for `restore`. */
  record(session: Session): SessionRecord {
    const { sid, handshake, seenAtMs, isExtended, nextAckId, setsBeat, pingedAtMs } = session;
    return {
      v: 1,
      sid,
      handshake,
      sockets: [],
      seenAtMs,
      ...(isExtended && { isExtended }),
      ...(setsBeat && { setsBeat }),
      ...(pingedAtMs > handshake.issued && { pingedAtMs }),
      ...(nextAckId !== undefined && { nextAckId }),
    };
  }

  /** A WebSocket that wants to take over from long-polling. @returns `undefined` when it may not */
  openProbe(session: Session, isExtended = false): Session | undefined {
    return this.engine.openProbe(session, { isExtended, nowMs: this.ports.now() });
  }

  /** LIM-1: for a WebSocket that may not, and is closed by whoever asks. @returns what `lost` has to hear of when it is gone */
  turnAway(handshake: Handshake): Session {
    return this.engine.turnAway(handshake, this.ports.now());
  }

  /** @returns a promise while the frame's consequences outlast this turn (an asynchronous verdict or handler) */
  receive(session: Session, frame: Frame): void | Promise<void> {
    return this.outbox.turn(() => this.engine.receive(session, frame, this.ports.now()));
  }

  /** A poll came; its answer is the effect `answer-poll`. @returns `false` when it will get none */
  poll(session: Session): boolean {
    return this.outbox.turn(() => this.engine.polling.poll(session, this.ports.now()));
  }

  /** A post came. @returns whether its body may be read */
  beginPost(session: Session): boolean {
    return this.outbox.turn(() => this.engine.polling.beginPost(session));
  }

  /** The body of a post is there. @returns whether all of it was in order */
  endPost(session: Session, body: string): boolean {
    return this.outbox.turn(() => this.engine.polling.endPost(session, body, this.ports.now()));
  }

  /** The body of a post was too large, or broke off: the session is over. */
  abandonPost(session: Session): void {
    this.outbox.turn(() => this.engine.polling.abandonPost(session));
  }

  /** What an ended polling session had still to hear; told once. */
  takeLastWords(sid: string): string | undefined {
    return this.engine.polling.takeLastWords(sid);
  }

  /** What another room's server tells this one: an Engine.IO server has nothing that could hear it. */
  async hear(_event: ServerSideEvent): Promise<ServerSideAnswer> {
    return { ok: false, reason: "it has no namespaces" };
  }

  /** The transport is gone. */
  lost(session: Session, closing: Closing): void {
    this.outbox.turn(() => this.engine.lost(session, closing));
  }

  /** Ends one session from this side. */
  close(session: Session, closing: Closing): void {
    this.outbox.turn(() => this.engine.close(session, closing));
  }

  /** Runs what is due. Returns the names of the deadlines that ran. */
  tick(): string[] {
    return this.outbox.turn(() =>
      this.deadlines.runDue(this.ports.now(), (name, error) => this.ports.report(`deadline ${name} failed`, error)),
    );
  }
}
