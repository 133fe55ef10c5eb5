// The inputs of a server of Engine.IO sessions, each one a turn: what a shell calls. Socket.IO is built on
// it (server.ts); anything else that speaks Engine.IO can be, with a handler for messages.
import type { Closing } from "../protocol/closings.ts";
import { CLOSINGS } from "../protocol/closings.ts";
import type { Frame } from "../protocol/engine-io.ts";
import { Deadlines } from "./deadlines.ts";
import { Engine, type EngineLayer, type EngineOptions, type Transport } from "./engine.ts";
import { Outbox, type Effect } from "./outbox.ts";
import { Session, type Handshake, type SessionRecord } from "./session.ts";

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
}

export interface OpenOptions {
  /** Whether the WebSocket carries the extensions (EXT-1). */
  readonly isExtended?: boolean;
  /** Ties the session to its connection before anything is sent to it. */
  readonly link?: (session: Session) => void;
}

export abstract class SessionServer implements EngineLayer {
  readonly outbox: Outbox;
  readonly deadlines = new Deadlines();
  protected readonly engine: Engine;
  protected readonly ports: ServerPorts;

  constructor(options: EngineOptions, ports: ServerPorts) {
    this.ports = ports;
    this.outbox = new Outbox({
      apply: (effects) => ports.apply(effects),
      remember: (session) => this.onChange?.(session),
      overflow: (session) => this.engine.close(session, CLOSINGS.queueTooLong),
    });
    this.engine = new Engine(options, this, {
      outbox: this.outbox,
      deadlines: this.deadlines,
      phase: ports.phase,
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

  open(handshake: Handshake, transport: Transport, { isExtended = false, link }: OpenOptions = {}): Session {
    return this.outbox.turn(() => {
      const session = this.engine.open(this.ports.newId(), handshake, { transport, isExtended });
      link?.(session);
      this.onOpen?.(session);
      return session;
    });
  }

  /** Brings a session back from its record. Sends nothing: its peer has noticed nothing. */
  restore(record: SessionRecord, link: (session: Session) => void): void {
    const session = new Session(record.sid, record.handshake, record.seenAtMs ?? record.handshake.issued);
    session.isExtended = record.isExtended ?? false;
    session.nextAckId = record.nextAckId;
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
    const { sid, handshake, seenAtMs, isExtended, nextAckId } = session;
    const more = { ...(isExtended && { isExtended }), ...(nextAckId !== undefined && { nextAckId }) };
    return { v: 1, sid, handshake, sockets: [], seenAtMs, ...more };
  }

  /** A WebSocket that wants to take over from long-polling. @returns `undefined` when it may not */
  openProbe(session: Session, isExtended = false): Session | undefined {
    return this.engine.openProbe(session, { isExtended, nowMs: this.ports.now() });
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
