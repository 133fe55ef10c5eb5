// Lets an object sleep while clients of its stock server are connected. For the application a wake is a restart from which every client
// recovers: `register` runs again, and each socket enters its namespaces again, with its id, rooms, data and handshake, and with the plain
// properties that the application gave it. Its client notices nothing. Made and called by durable/engine-object.ts, called by the adapters of
// namespaces, too (recovery-adapter.ts).
// While code restores sockets (`isRestoring` of timers.ts), these do nothing: writes to a connection (engine-socket.ts), joins, leaves, broadcasts
// and packets (recovery-adapter.ts). Data and properties it may change: `#undo` undoes that.
import type { SessionServer } from "../socketio/engine/session-server.ts";
import { CLOSINGS } from "../socketio/wire/closings.ts";
import {
  GivenParts,
  isPlain,
  keysOf,
  Owners,
  plainOf,
  REQUEST_USUAL,
  requestFrom,
  requestRecord,
  type AsleepRecord,
} from "./asleep-record.ts";
import type { Written } from "./engine-socket.ts";
import { ASLEEP_OFFSET, type KnownSocket, type StockSocket } from "./known-socket.ts";
import type { StockLayer, StockSession } from "./layer.ts";
import { override, watchListeners, type Emitter } from "./methods.ts";
import { inTime, type After } from "./in-time.ts";
import type { Recovery } from "./recovery.ts";
import type { Timers } from "./timers.ts";

interface Encoder {
  encode(packet: object): Written[];
}

interface SleepParts {
  readonly recovery: Recovery;
  readonly timers: Timers;
  /** That of the server of the package. */
  readonly encoder: () => Encoder;
  /** Names something that keeps the object awake, or does not survive its sleep. */
  readonly warn: (problem: string) => void;
}

/** What a wake needs of the object. */
export interface WakeParts {
  readonly server: SessionServer<StockSession, StockLayer>;
  readonly layer: StockLayer;
  /** Done when `register` is. */
  readonly registered: Promise<unknown>;
  now(): number;
  report(problem: string, error: unknown): void;
  readonly after: After;
}

/** So long the namespaces have time to take their sockets back: functions of the application may decide about them. */
const NAMESPACES_MS = 5000;

/** So long events wait for listeners for `connection` that go on after an `await`: they may add listeners then. */
const LISTENERS_MS = 2000;

/** So long connections that slept wait for an asynchronous `register`. */
const REGISTER_MS = 20_000;

/** The type of a packet by which a client enters a namespace. */
const CONNECT = 0;

/** Properties that a socket of the package gets later. */
const LATER = ["_anyListeners", "_anyOutgoingListeners", "join"];

export class Sleep {
  readonly timers: Timers;
  readonly warn: (problem: string) => void;
  readonly #recovery: Recovery;
  readonly #encoder: () => Encoder;
  /** The properties that the package gives a socket. */
  #usual: ReadonlySet<string | symbol> = new Set();
  /** Those that it gives a handshake. */
  #handshakeUsual: ReadonlySet<string | symbol> = new Set();
  readonly #owners = new Owners();
  readonly #given = new GivenParts();

  constructor({ recovery, timers, encoder, warn }: SleepParts) {
    this.#recovery = recovery;
    this.timers = timers;
    this.#encoder = encoder;
    this.warn = warn;
  }

  // ---- what is stored -----------------------------------------------------------------------------------------

  asleepOf(socket: StockSocket, data: unknown): AsleepRecord {
    const { conn, handshake } = socket;
    const isNot = (what: string, then: string): void =>
      this.warn(`socket.${what} is no plain data: after a sleep it is ${then}`);
    if (!isPlain(data)) isNot("data", "a structured clone of what it was");
    const own = plainOf(socket, this.#usual, (name) => isNot(name, "as `connection` sets it"));
    for (const [name, value] of Object.entries({ data, ...own }))
      if (this.#owners.isShared(value, socket))
        this.warn(`socket.${name} has an object that another socket has, too: after a sleep each has its own`);
    return {
      session: conn.id,
      request: requestRecord(conn.request),
      requestOwn: plainOf(conn.request, REQUEST_USUAL, (name) => isNot(`request.${name}`, "gone")),
      auth: handshake.auth,
      handshakeOwn: plainOf(handshake, this.#handshakeUsual, (name) => isNot(`handshake.${name}`, "gone")),
      issued: handshake.issued,
      own,
      events: socket
        .eventNames()
        .filter((name) => typeof name === "string")
        .toSorted(),
    };
  }

  // ---- called by the adapters of namespaces ---------------------------------------------------------------------

  /** Called with each socket before middlewares get it. */
  made(socket: StockSocket): void {
    if (this.#usual.size === 0) {
      this.#usual = new Set([...keysOf(socket), ...LATER]);
      this.#handshakeUsual = keysOf(socket.handshake);
    }
    watchListeners(socket as unknown as Emitter, (result) => this.timers.goesOn(result));
    const asleep = this.#recovery.restoring(socket.id);
    if (!asleep) return;
    const { auth, handshakeOwn, issued, own } = asleep;
    Object.assign(socket.handshake, handshakeOwn, { auth, issued, time: String(new Date(issued)) });
    Object.assign(socket, own);
    for (const value of [socket.data, ...Object.values(own)]) this.#given.add(value);
    override(socket as Asking, "onack", (answered) => (packet) => {
      if (!socket.acks.has(packet.id))
        this.warn("a client answered a question from before a sleep: its callback is gone");
      answered(packet);
    });
  }

  // ---- a wake -------------------------------------------------------------------------------------------------

  /**
   * Restores the sockets of connections that slept. Called when the engine has restored these, and again if a closing wakes the object meanwhile.
   * @returns done when all are in their namespaces, or ended
   */
  async restore(parts: WakeParts): Promise<void> {
    const { server } = parts;
    const asleep = this.#recovery.asleep();
    const slept = [...server.sessions.values()].filter(({ conn, isRestoring }) => !conn && !isRestoring);
    for (const session of slept) session.isRestoring = true;
    const connections = slept.map((session) => ({ session, sockets: asleep.get(session.sid) ?? [] }));
    const failed = (error: unknown): void => parts.report("connections that slept could not be restored", error);
    let areIn = true;
    try {
      if (connections.some(({ sockets }) => sockets.length > 0)) await this.#enterAll(connections, parts);
    } catch (error) {
      failed(error);
      areIn = false;
    }
    for (const { session, sockets } of connections) {
      let isWhole = areIn && sockets.length > 0;
      for (const known of sockets)
        try {
          this.#undo(known);
          isWhole &&= !known.asleep;
        } catch (error) {
          failed(error);
          isWhole = false;
        }
      // Its client comes back.
      if (!isWhole) server.close(session, CLOSINGS.restart);
    }
    this.#recovery.allRestored(parts.now());
  }

  /** Has all enter their namespaces again. */
  async #enterAll(connections: readonly Connection[], parts: WakeParts): Promise<void> {
    const { timers } = this;
    const { layer, registered } = parts;
    if (!(await isDone(registered, REGISTER_MS, parts))) return;
    const restored = connections.flatMap(({ sockets }) => sockets.map((known) => this.#recovery.beginRestoring(known)));
    timers.beginRestoring();
    timers.restore(() => {
      const all = connections.flatMap(({ session, sockets }) => {
        const pass = sockets[0] && layer.restore(session, requestFrom(sockets[0].asleep!));
        return sockets.map(({ nsp, pid, asleep }) => ({ pass: pass!, nsp, pid, ...asleep! }));
      });
      // In the order in which they came: applications see it in lists of sockets.
      for (const { pass, nsp, pid, auth } of all.toSorted((one, other) => one.issued - other.issued))
        for (const message of this.#connectOf(nsp, { pid, offset: ASLEEP_OFFSET }, auth)) pass(message);
    });
    await isDone(Promise.all(restored), NAMESPACES_MS, parts);
    if (!(await isDone(timers.restored(), LISTENERS_MS, parts)))
      this.warn(
        `a listener for \`connection\` was not done ${LISTENERS_MS} ms after a sleep: events had to wait for it`,
      );
  }

  #connectOf(nsp: string, data: object, auth: unknown): readonly Written[] {
    const encoded = (given: unknown): Written[] =>
      this.#encoder().encode({ type: CONNECT, nsp, data: { ...(given as object), ...data } });
    try {
      return encoded(auth);
    } catch {
      // A middleware has put something into `auth` that no packet carries, such as a bigint. The socket gets it by `made`.
      return encoded({});
    }
  }

  /** Undoes what listeners for `connection` did to a socket that they took for a new one. */
  #undo(known: KnownSocket): void {
    const stored = this.#recovery.endRestoring(known);
    const { socket } = known;
    // It was late, or a listener has ended it.
    if (!socket || !stored?.asleep) return;
    const { own, events: before } = stored.asleep;
    const putInto = (name: string, present: unknown, value: unknown): unknown =>
      this.#given.putInto(present, value, () =>
        this.warn(
          `\`connection\` sets an object in socket.${name}: after a sleep the stored one takes its place, unless \`??=\` sets it`,
        ),
      );
    for (const [name, value] of Object.entries(own))
      // Not `=`, which throws if `connection` has defined it as one that cannot be set.
      Reflect.set(socket, name, putInto(name, Reflect.get(socket, name), value));
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(socket)))
      if (!this.#usual.has(name) && !Object.hasOwn(own, name) && value !== undefined && isPlain(value))
        Reflect.deleteProperty(socket, name);
    known.data = putInto("data", known.data, stored.data);
    const events = socket.eventNames();
    for (const name of before)
      if (!events.includes(name)) this.warn(`a socket has no listener for "${name}" after a sleep, and had one before`);
  }
}

/** A connection that slept, with its sockets. */
interface Connection {
  readonly session: StockSession;
  readonly sockets: readonly KnownSocket[];
}

interface Asking {
  onack?(packet: { readonly id: number }): void;
}

const isDone = (promise: Promise<unknown>, ms: number, { after }: WakeParts): Promise<boolean> =>
  inTime(promise, ms, after).then(
    () => true,
    () => false,
  );
