// Activates, restores and removes the sockets of a server, and runs application code for them. Called by
// connects.ts, by server.ts and by the sockets themselves.
import type { SessionFlood } from "../engine/session-flood.ts";
import { CLOSINGS, isReturnable, type Closing, type DisconnectReason } from "../wire/closings.ts";
import { encodeDisconnect } from "../wire/socket-io.ts";
import type { LayerContext } from "../engine/session-server.ts";
import type { Engine } from "../engine/engine.ts";
import type { Outbox } from "../engine/outbox.ts";
import { Acks, type AskAnswer } from "./acks.ts";
import type { NamespaceEntry, Namespaces } from "./namespaces.ts";
import { isPromise } from "./connect-decision.ts";
import type { AskRecord, SocketRecord } from "./records.ts";
import { Socket, type SocketHost } from "./socket.ts";
import type { SocketSession } from "./socket-session.ts";
import type { TokenLife } from "./token-life.ts";
import type { UnjoinedSessions } from "./unjoined-sessions.ts";

export interface SocketsPorts {
  now(): number;
  report(problem: string, error: unknown): void;
}

export class Sockets implements SocketHost {
  readonly outbox: Outbox;
  readonly acks: Acks;
  readonly #engine: Engine;
  readonly #ports: SocketsPorts;
  readonly #namespaces: Namespaces;
  readonly #unjoined: UnjoinedSessions;
  readonly #tokens: TokenLife | undefined;
  readonly #flood: SessionFlood;

  constructor(
    { engine, outbox, deadlines }: Pick<LayerContext, "engine" | "outbox" | "deadlines">,
    ports: SocketsPorts,
    parts: { namespaces: Namespaces; unjoined: UnjoinedSessions; tokens: TokenLife | undefined; flood: SessionFlood },
  ) {
    this.outbox = outbox;
    this.acks = new Acks(deadlines, (socket, ask, answer) => this.#resume(socket, ask, answer));
    this.#engine = engine;
    this.#ports = ports;
    this.#namespaces = parts.namespaces;
    this.#unjoined = parts.unjoined;
    this.#tokens = parts.tokens;
    this.#flood = parts.flood;
  }

  now(): number {
    return this.#ports.now();
  }

  /** The namespace of a socket is in service as long as the socket is. */
  entryOf(socket: Socket): NamespaceEntry {
    return this.#namespaces.get(socket.nsp)!;
  }

  /** A CONNECT was accepted. @returns its socket, which is not in its namespace yet */
  make(session: SocketSession, { hub }: NamespaceEntry, record: SocketRecord): Socket {
    this.#unjoined.joined(session);
    return new Socket(record, session, hub, this);
  }

  /** Puts a new socket into its namespace. */
  activate(socket: Socket, { hub }: NamespaceEntry): void {
    socket.session.sockets.set(socket.nsp, socket);
    hub.add(socket);
    this.#tokens?.watch(socket);
  }

  /** Brings a socket back that slept. @returns whether that was possible, where its namespace is still served */
  restore(session: SocketSession, record: SocketRecord): boolean {
    const entry = this.#restoreEntry(record);
    if (!entry) return entry !== null;
    const socket = new Socket(record, session, entry.hub, this);
    session.sockets.set(socket.nsp, socket);
    entry.hub.restore(socket);
    if (socket.asks.length > 0) this.acks.watch(socket);
    this.#tokens?.watch(socket);
    if (socket.pid !== undefined) entry.recovery?.log.retain?.(socket.id);
    void this.run(session, () => entry.namespace.onRestore?.(socket));
    return true;
  }

  /** @returns `null` where the application cannot make it again: that costs the sockets in it, and not the whole object */
  #restoreEntry({ nsp, rule }: SocketRecord): NamespaceEntry | undefined | null {
    try {
      return this.#namespaces.restore(nsp, rule);
    } catch (error) {
      this.#ports.report(`the namespace ${nsp} could not be made again`, error);
      return null;
    }
  }

  /** Goes on with an answer to a question, perhaps of an earlier instance. */
  #resume(socket: Socket, { handler, data }: AskRecord, answer: AskAnswer): void {
    const { namespace } = this.entryOf(socket);
    const continuation = Object.hasOwn(namespace.continuations, handler) ? namespace.continuations[handler] : undefined;
    if (!continuation)
      return this.#ports.report("nothing goes on with an answer", new Error(`no continuation ${handler}`));
    void this.run(socket.session, () => continuation(socket, answer, data));
  }

  /**
   * Runs application code. A failure closes the one session that it happened to. Code after an await runs in turns of its own.
   */
  run(session: SocketSession, code: () => unknown): void | Promise<void> {
    const fail = (error: unknown): void => {
      this.#ports.report("an event handler failed", error);
      this.outbox.turn(() => this.close(session, CLOSINGS.internal));
    };
    try {
      const result = code();
      // Changes of `socket.data` after an await have to be kept too.
      if (isPromise(result)) return result.then(() => this.outbox.save(session), fail);
    } catch (error) {
      fail(error);
    }
  }

  /** Closes a session from this side, and removes its sockets. */
  close(session: SocketSession, closing: Closing): void {
    if (this.#engine.close(session, closing)) this.closed(session, closing);
  }

  /** A session is over: its sockets go. */
  closed(session: SocketSession, closing: Closing): void {
    this.#unjoined.closed(session, closing);
    this.#flood.forget(session);
    for (const nsp of session.connecting) this.#namespaces.giveUp(nsp, session);
    for (const socket of session.sockets.values()) this.#dismiss(socket, closing.disconnect);
    session.sockets.clear();
  }

  /** Ends the session of a socket for good: a stock client whose sockets are disconnected first does not come back by itself. */
  dismissSession(session: SocketSession): void {
    this.outbox.turn(() => {
      for (const nsp of session.sockets.keys()) this.outbox.send([session], encodeDisconnect(nsp));
      this.close(session, CLOSINGS.forcedByServer);
    });
  }

  removeSocket(socket: Socket, reason: DisconnectReason): void {
    this.outbox.turn(() => {
      const { session } = socket;
      session.sockets.delete(socket.nsp);
      this.#dismiss(socket, reason);
      // SIO-1: a session that is in no namespace any more must not hold the connection for ever.
      if (session.sockets.size === 0 && !session.closed) this.#unjoined.add(session, this.now());
      this.outbox.save(session);
    });
  }

  #dismiss(socket: Socket, reason: DisconnectReason): void {
    const { namespace, hub, recovery } = this.entryOf(socket);
    socket.isLeaving = true;
    this.#survive("onDisconnecting failed", () => namespace.onDisconnecting?.(socket, reason));
    socket.connected = false;
    this.#tokens?.forget(socket);
    this.#survive("leaving channels failed", () => hub.remove(socket));
    // Before it is remembered: continuations may change `socket.data`, which comes back with it.
    this.acks.abandon(socket);
    const nowMs = this.now();
    const mayReturn = isReturnable(reason);
    recovery?.depart(socket.id, { atMs: nowMs, mayReturn });
    this.#survive("a socket could not be remembered", () =>
      socket.remember({ goneAtMs: nowMs, saidGoodbye: !mayReturn }),
    );
    socket.exitAll();
    this.#survive("onDisconnect failed", () => namespace.onDisconnect?.(socket, reason));
    this.#namespaces.release(socket.nsp);
  }

  /** Runs a step of an ending; the other steps follow even if it fails. */
  #survive(problem: string, step: () => unknown): void {
    const report = (error: unknown): void => this.#ports.report(problem, error);
    try {
      const result = step();
      if (isPromise(result)) void result.then(undefined, report);
    } catch (error) {
      report(error);
    }
  }
}
