// Makes, restores and removes the sockets of a server, and runs application code for them. Called by connects.ts, server.ts and the sockets
// themselves.
import type { SessionFlood } from "../engine/session-flood.ts";
import { CLOSINGS, isReturnable, type Closing, type DisconnectReason } from "../wire/closings.ts";
import { encodeDisconnect } from "../wire/socket-io.ts";
import type { LayerContext } from "../engine/session-server.ts";
import type { Engine } from "../engine/engine.ts";
import type { Effects } from "../engine/effects.ts";
import { Acks, type AskAnswer } from "./acks.ts";
import { isPromise, type Failures } from "./failures.ts";
import type { NamespaceEntry, Namespaces } from "./namespaces.ts";
import type { AskRecord, SocketRecord } from "./records.ts";
import { Socket, type SocketHost } from "./socket.ts";
import type { SocketSession } from "./socket-session.ts";
import type { TokenLife } from "./token-life.ts";
import type { UnjoinedSessions } from "./unjoined-sessions.ts";

export interface SocketsPorts {
  now(): number;
  report(problem: string, error: unknown): void;
}

/** Properties of the application that the log names: their names may be made of anything. */
const OWN_NAMED_MAX = 100;

/** For whom application code runs. */
type Running = Pick<Socket, "nsp" | "session">;

interface SocketsParts {
  readonly namespaces: Namespaces;
  readonly unjoined: UnjoinedSessions;
  readonly tokens: TokenLife | undefined;
  readonly flood: SessionFlood;
  readonly failures: Failures;
}

export class Sockets implements SocketHost {
  readonly effects: Effects;
  readonly acks: Acks;
  readonly #engine: Engine;
  readonly #ports: SocketsPorts;
  readonly #namespaces: Namespaces;
  readonly #unjoined: UnjoinedSessions;
  readonly #tokens: TokenLife | undefined;
  readonly #flood: SessionFlood;
  /** Names of properties that the application has set on sockets. */
  readonly #own = new Set<string>();
  readonly #failures: Failures;

  constructor(
    { engine, effects, deadlines }: Pick<LayerContext, "engine" | "effects" | "deadlines">,
    ports: SocketsPorts,
    parts: SocketsParts,
  ) {
    this.effects = effects;
    this.acks = new Acks(deadlines, (socket, ask, answer) => this.#continue(socket, ask, answer));
    this.#engine = engine;
    this.#ports = ports;
    this.#namespaces = parts.namespaces;
    this.#unjoined = parts.unjoined;
    this.#tokens = parts.tokens;
    this.#flood = parts.flood;
    this.#failures = parts.failures;
  }

  now(): number {
    return this.#ports.now();
  }

  /** A namespace is in service for as long as any of its sockets. */
  entryOf(socket: Socket): NamespaceEntry {
    return this.#namespaces.get(socket.nsp)!;
  }

  /** Makes the socket of an accepted CONNECT, which is not in its namespace yet. */
  make(session: SocketSession, { hub }: NamespaceEntry, record: SocketRecord): Socket {
    this.#unjoined.joined(session);
    const socket = new Socket(record, session, hub, this);
    if (socket.bundles) session.bundle(socket.nsp, socket.pid !== undefined);
    return socket;
  }

  /** Puts a new socket into its namespace. */
  activate(socket: Socket, { hub }: NamespaceEntry): void {
    socket.session.sockets.set(socket.nsp, socket);
    hub.add(socket);
    this.#tokens?.watch(socket);
  }

  /**
   * Restores a socket that slept.
   * @returns `false` if its namespace could not be made again: its client must reconnect, or it would miss events without knowing
   */
  restore(session: SocketSession, record: SocketRecord): boolean {
    let entry: NamespaceEntry | undefined;
    try {
      entry = this.#namespaces.restore(record.nsp, record.rule);
    } catch (error) {
      this.#ports.report(`the namespace ${record.nsp} could not be made again`, error);
      return false;
    }
    // The application may no longer have such a namespace.
    if (!entry) return true;
    const socket = new Socket(record, session, entry.hub, this);
    session.sockets.set(socket.nsp, socket);
    if (socket.bundles) session.bundle(socket.nsp, socket.pid !== undefined);
    entry.hub.restore(socket);
    if (socket.asks.length > 0) this.acks.watch(socket);
    this.#tokens?.watch(socket);
    if (socket.pid !== undefined) entry.recovery?.log.retain?.(socket.id);
    // A fresh connection may do better.
    const closeIt = (): void => this.close(session, CLOSINGS.internal);
    void this.run(socket, "onRestore", () => entry.namespace.onRestore?.(socket), closeIt);
    return true;
  }

  /** Calls the continuation of an ask, perhaps one of an earlier instance. */
  #continue(socket: Socket, { handler, data }: AskRecord, answer: AskAnswer): void {
    const { namespace } = this.entryOf(socket);
    const continuation = Object.hasOwn(namespace.continuations, handler) ? namespace.continuations[handler] : undefined;
    if (!continuation) return this.#ports.report("an ask failed", new Error(`no continuation ${handler}`));
    void this.run(socket, handler, () => continuation(socket, answer, data));
  }

  /**
   * Runs application code. Code after an await runs in turns of its own. SIO-15: a failure is for the log, and the connection stays: its
   * client would come back, and meet the same mistake again, for ever.
   * @param what names the code in the log; clients may have chosen it
   * @param failed called after a failure
   */
  run({ nsp, session }: Running, what: string, code: () => unknown, failed?: () => void): void | Promise<void> {
    return this.#failures.run(`failed in ${nsp}: ${what}`, code, {
      session,
      // Changes of `socket.data` after an await have to be saved, too.
      finished: () => this.effects.save(session),
      failed: failed && (() => this.effects.turn(failed)),
    });
  }

  /** Names a property that the application has set on a socket. */
  reportOwn(name: string): void {
    if (this.#own.has(name) || this.#own.size === OWN_NAMED_MAX) return;
    this.#own.add(name);
    const error = new Error(`socket.${name} is lost when the object sleeps: use socket.data.${name}`);
    this.#ports.report("a socket has a property of the application", error);
  }

  /** Closes a session, and removes its sockets. */
  close(session: SocketSession, closing: Closing): void {
    this.announce(session, closing);
    if (this.#engine.close(session, closing)) this.removeSocketsOf(session, closing);
  }

  /** Called before a session is closed. */
  announce(session: SocketSession, { isFinal }: Closing): void {
    if (!isFinal || session.closed) return;
    for (const nsp of session.sockets.keys()) this.effects.send([session], encodeDisconnect(nsp));
  }

  /** Removes the sockets of a session that is over. */
  removeSocketsOf(session: SocketSession, closing: Closing): void {
    this.#unjoined.closed(session, closing);
    this.#flood.forget(session);
    this.#failures.forget(session);
    for (const nsp of session.connecting) this.#namespaces.giveUp(nsp, session);
    for (const socket of session.sockets.values()) this.#dismiss(socket, closing.disconnect);
    session.sockets.clear();
  }

  /** Ends a session for good: a stock client does not come back by itself. */
  dismissSession(session: SocketSession): void {
    this.effects.turn(() => this.close(session, CLOSINGS.forcedByServer));
  }

  removeSocket(socket: Socket, reason: DisconnectReason): void {
    this.effects.turn(() => {
      const { session } = socket;
      session.sockets.delete(socket.nsp);
      if (socket.bundles) session.unbundle(socket.nsp);
      this.#dismiss(socket, reason);
      // SIO-1
      if (session.sockets.size === 0 && !session.closed) this.#unjoined.add(session, this.now());
      this.effects.save(session);
    });
  }

  #dismiss(socket: Socket, reason: DisconnectReason): void {
    const { namespace, hub, recovery } = this.entryOf(socket);
    socket.isLeaving = true;
    this.#survive("onDisconnecting failed", () => namespace.onDisconnecting?.(socket, reason));
    socket.connected = false;
    this.#tokens?.forget(socket);
    this.#survive("leaving channels failed", () => hub.remove(socket));
    // Before its state is stored: continuations may change `socket.data`, which a recovered socket gets back.
    this.acks.abandon(socket);
    const nowMs = this.now();
    const mayReturn = isReturnable(reason);
    recovery?.depart(socket.id, { atMs: nowMs, mayReturn });
    if (recovery && mayReturn) socket.recoverableUntilMs = nowMs + recovery.windowMs;
    this.#survive("the state of a socket could not be stored", () =>
      socket.remember({ goneAtMs: nowMs, leftOnPurpose: !mayReturn }),
    );
    socket.exitAll();
    this.#survive("onDisconnect failed", () => namespace.onDisconnect?.(socket, reason));
    this.#namespaces.release(socket.nsp);
  }

  /** Runs a step of a socket's end. If it fails, the other steps follow all the same. */
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
