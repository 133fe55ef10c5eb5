// The adapter of a namespace whose clients recover: one of the package's own, which tells the recovery of its sockets and packets. Given to the
// server by durable/engine-object.ts.
import type { Frame } from "../socketio/wire/engine-io.ts";
import { frameOf, type Written } from "./engine-socket.ts";
import { NO_OFFSET, type StockSocket } from "./known-socket.ts";
import { override, watchListeners, type Emitter } from "./methods.ts";
import type { Recovery, RecoveredSession } from "./recovery.ts";
import type { Sleep } from "./sleep.ts";
import { isRestoring, unmuted } from "./timers.ts";

interface Packet {
  readonly type: number;
  readonly id?: number;
  readonly data: unknown[];
}

interface BroadcastOptions {
  readonly rooms: ReadonlySet<string>;
  readonly except?: ReadonlySet<string>;
  readonly flags?: { readonly volatile?: boolean; readonly local?: boolean };
}

interface Encoder {
  encode(packet: Packet): Written[];
}

type Auth = Readonly<Record<string, unknown>>;

interface Namespace {
  readonly name: string;
  readonly adapter: unknown;
  readonly sockets: ReadonlyMap<string, NamespaceSocket>;
  /** The number of the next question that wants an answer. */
  _ids: number;
  _createSocket?(client: Client, auth: Auth): Promise<NamespaceSocket>;
  /** Runs middlewares. */
  run?(socket: NamespaceSocket, done: () => void): void;
  /** Lets a socket in. */
  _doConnect?(socket: NamespaceSocket, done: unknown): void;
}

interface NamespaceSocket extends StockSocket {
  readonly recovered: boolean;
  readonly client: Client;
  packet(packet: { readonly type: number }, options?: object): void;
  /** Called when it is over, and tells listeners. */
  _onclose(why: unknown, what: unknown): void;
}

interface Client {
  readonly conn: {
    readonly readyState: string;
    once(event: "close", listener: () => void): unknown;
    on(event: "packet", listener: (packet: { readonly type: string }) => void): unknown;
    off(event: "packet", listener: (packet: { readonly type: string }) => void): unknown;
  };
  writeToEngine(frames: readonly Frame[], options: object): void;
}

/** What this file uses of an adapter of the package socket.io-adapter. */
interface Adapter {
  readonly nsp: Namespace;
  encoder: Encoder;
  addAll(id: string, rooms: ReadonlySet<string>): unknown;
  del(id: string, room: string): unknown;
  delAll(id: string): void;
  socketRooms(id: string): ReadonlySet<string> | undefined;
  broadcast(packet: Packet, options: BroadcastOptions): unknown;
  /** Of a ClusterAdapter: called for each packet before it goes to the sockets of this server. */
  addOffsetIfNecessary?(packet: Packet, options: BroadcastOptions, offset: string): void;
}

export type AdapterClass = new (nsp: Namespace) => Adapter;

type ServerClass = new (options: never) => { readonly sockets: { readonly adapter: unknown } };

/**
 * The adapter of the package without recovery. It stands in socket.io-adapter, which an application may be unable to import: it is a dependency
 * of socket.io alone.
 */
export const adapterOf = (Server: ServerClass): AdapterClass =>
  (new Server({} as never).sockets.adapter as object).constructor as AdapterClass;

const ADAPTER_PROBLEM =
  "`io.adapter` has set another adapter, which stores no sockets: each sleep ends all connections";

const QUESTION_PROBLEM = "`connection` asks a client: after a sleep it gets no answer";

/** The type of a packet that ends a socket. */
const DISCONNECT = 1;

/** The type of a packet that carries an event. */
const EVENT = 2;

/**
 * @param sleep given if the object sleeps while clients are connected
 * @returns the class for the option `adapter`
 */
export function recoverable(Base: AdapterClass, recovery: Recovery, sleep?: Sleep): AdapterClass {
  return class extends Base {
    /** The packet that is about to be encoded, and to whom it goes. */
    #leaving: { readonly packet: Packet; readonly options: BroadcastOptions } | undefined;

    constructor(nsp: Namespace) {
      super(nsp);
      const { encoder } = this;
      this.encoder = { encode: (packet) => this.#stored(packet, encoder.encode(packet)) };
      watchRecoveries(this, recovery, sleep);
    }

    override addAll(id: string, rooms: ReadonlySet<string>): unknown {
      if (isRestoring() && recovery.isPresent(id)) return undefined;
      const before = this.socketRooms(id);
      const added = [...rooms].filter((room) => !before?.has(room));
      const result = super.addAll(id, rooms);
      const socket = this.nsp.sockets.get(id);
      if (!socket) return result;
      if (recovery.isPresent(id)) recovery.joined(id, added);
      else {
        // The package makes it join its own room, which it may have left.
        if (recovery.restoring(id)) for (const room of added) super.del(id, room);
        this.#enter(socket);
      }
      return result;
    }

    #enter(socket: NamespaceSocket): void {
      const missed = recovery.entered(this.nsp.name, socket);
      unmuted(() => {
        for (const frames of missed) socket.client.writeToEngine(frames, {});
      });
      // Acks do not pass the adapter.
      override(socket, "packet", (send) => (packet, options) => {
        if (isRestoring() && packet.type !== DISCONNECT) return;
        recovery.active();
        recovery.sending(socket.id);
        unmuted(() => send(packet, options));
      });
      override(socket, "_onclose", (close) => (why, what) => unmuted(() => close(why, what)));
    }

    override del(id: string, room: string): unknown {
      if (isRestoring()) return undefined;
      const wasIn = this.socketRooms(id)?.has(room);
      const result = super.del(id, room);
      if (wasIn) recovery.exited(id, room);
      return result;
    }

    override delAll(id: string): void {
      super.delAll(id);
      recovery.ended(id);
    }

    persistSession({ sid, rooms }: { readonly sid: string; readonly rooms: readonly string[] }): void {
      recovery.broke(sid, rooms);
    }

    restoreSession(pid: string, offset: string): Promise<RecoveredSession | null> {
      return Promise.resolve(recovery.recover(this.nsp.name, pid, offset));
    }

    override broadcast(packet: Packet, options: BroadcastOptions): unknown {
      if (isRestoring()) return packet.id === undefined ? undefined : sleep?.warn(QUESTION_PROBLEM);
      recovery.active();
      if (options.rooms.size === 1) for (const room of options.rooms) recovery.sending(room);
      if (!super.addOffsetIfNecessary || options.flags?.local) this.addOffsetIfNecessary(packet, options);
      return super.broadcast(packet, options);
    }

    /** As the package decides which packets can be missed: neither those that ask for an answer, nor volatile ones. */
    override addOffsetIfNecessary(packet: Packet, options: BroadcastOptions): void {
      if (packet.type !== EVENT || packet.id !== undefined || options.flags?.volatile !== undefined) return;
      const offset = recovery.nextOffset;
      if (offset === undefined) return;
      packet.data.push(offset);
      this.#leaving = { packet, options };
    }

    /** Called before the packet is written to any socket. */
    #stored(packet: Packet, encoded: Written[]): Written[] {
      if (this.#leaving?.packet !== packet) return encoded;
      const { rooms, except = [] } = this.#leaving.options;
      this.#leaving = undefined;
      const recipients = { nsp: this.nsp.name, rooms: [...rooms], except: [...except] };
      recovery.append(recipients, encoded.map(frameOf));
      return encoded;
    }
  };
}

/**
 * The package asks for the session only of a client that names an offset: one that got no packet names none. It does not say when a client goes
 * that comes back and is still in the hands of middlewares.
 */
function watchRecoveries(adapter: Adapter, recovery: Recovery, sleep: Sleep | undefined): void {
  const { nsp } = adapter;
  override(nsp, "_createSocket", (create) => async (client, auth) => {
    const isWithoutOffset = auth["pid"] !== undefined && auth["offset"] === undefined;
    const socket = await create(client, isWithoutOffset ? { ...auth, offset: NO_OFFSET } : auth);
    if (nsp.adapter !== adapter) sleep?.warn(ADAPTER_PROBLEM);
    sleep?.made(socket);
    const { conn } = client;
    if (!socket.recovered) return socket;
    const giveUp = recovery.givesUp(socket.id);
    if (conn.readyState === "open") conn.once("close", giveUp);
    else giveUp();
    return socket;
  });
  if (!sleep) return;
  const { timers } = sleep;
  // An answer to a question from before a sleep is none to another one. Clients read ids below 2^31.
  nsp._ids = Math.floor(Math.random() * 2 ** 30);
  watchListeners(nsp as unknown as Emitter, (result) => timers.goesOn(result));
  const hasSlept = ({ id }: StockSocket): boolean => recovery.restoring(id) !== undefined;
  // They have let it in before the sleep.
  override(nsp, "run", (run) => (socket, done) => (hasSlept(socket) ? done() : run(socket, done)));
  override(nsp, "_doConnect", (connect) => (socket, done) => {
    if (!hasSlept(socket)) return connect(socket, done);
    const unmute = timers.restore(() => connect(socket, done));
    const { conn } = socket.client;
    const heard = ({ type }: { readonly type: string }): void => {
      if (type !== "message") return;
      conn.off("packet", heard);
      unmute();
    };
    conn.on("packet", heard);
  });
}
