// An object with a stock server whose clients recover, without the platform: the package socket.io over a server of sessions, with storage that a
// crash cuts off. Used by the tests of recovery.
import { randomBytes } from "node:crypto";

import { Server, type ServerOptions, type Socket } from "socket.io";
import { Decoder, Encoder, PacketType, type Packet } from "socket.io-parser";

import type { Session } from "../../../src/socketio/engine/session.ts";
import type { Frame } from "../../../src/socketio/wire/engine-io.ts";
import { adapterOf, recoverable } from "../../../src/stock/recovery-adapter.ts";
import { Recovery } from "../../../src/stock/recovery.ts";
import { Storage } from "../../kit/simulator/storage.ts";
import { Sleep } from "../../../src/stock/sleep.ts";
import { Timers } from "../../../src/stock/timers.ts";
import { StockObject, type StockClient } from "./stock-object.ts";

const newId = (): string => randomBytes(15).toString("base64url");

/** Resolves when all that follows from the last input has happened. */
export const settled = (): Promise<void> =>
  new Promise((resolve) => setImmediate(() => setImmediate(() => setImmediate(resolve))));

export const WINDOW_MS = 120_000;
export const UNNOTICED_MS = 60_000;

type Register = (io: Server) => unknown;

/** Every client may join and leave, and tell all or a room. */
export function chat(io: Server): void {
  io.on("connection", (socket) => {
    socket.on("join", (room: string) => socket.join(room));
    socket.on("leave", (room: string) => socket.leave(room));
    socket.on("all", (...args: unknown[]) => void io.emit("said", ...args));
    socket.on("to", (room: string, ...args: unknown[]) => void io.to(room).emit("said", ...args));
    socket.on("others", (...args: unknown[]) => void socket.broadcast.emit("said", ...args));
  });
}

/** A connection of a client. */
interface Connection {
  send(frame: Frame): void;
  /** It breaks. */
  vanish(): void;
  /** The object notices, if it lives. */
  lose(): void;
}

/** The connections of a client, each over the session of the present instance. */
interface Link {
  /** Until it breaks. */
  client: Client | undefined;
  end: StockClient;
}

/** One instance of the object. */
interface Instance {
  readonly stock: StockObject;
  readonly recovery: Recovery;
  /** If it sleeps while clients are connected. */
  readonly sleep: Sleep | undefined;
  /** Done when its application is. */
  readonly registered: Promise<unknown>;
}

export interface RecoveringOptions extends Partial<ServerOptions> {
  /** Whether it sleeps while clients are connected: `sleep` makes it. */
  readonly sleeps?: boolean;
  /** The time after which a wake waits for nothing more. */
  readonly lateMs?: number;
  /** Whether it offers bundles. */
  readonly bundles?: boolean;
}

export class RecoveringObject {
  readonly storage = new Storage();
  /** Called before each frame leaves. */
  leaving: (frame: Frame) => void = () => {};
  sweepAtMs = Infinity;
  #lookAtMs = Infinity;
  /** As the operator pays them. */
  rowsWritten = 0;
  rowsRead = 0;
  /** What the log says that does not survive a sleep. */
  readonly warnings: string[] = [];
  readonly #problems: string[] = [];
  readonly #register: Register;
  readonly #options: Partial<ServerOptions>;
  readonly #sleeps: boolean;
  readonly #lateMs: number;
  readonly #bundles: boolean;
  readonly #links = new Map<Session, Link>();
  #instance: Instance;

  constructor(
    register: Register = chat,
    { sleeps = false, lateMs = 60_000, bundles = false, ...options }: RecoveringOptions = {},
  ) {
    this.#register = register;
    this.#options = options;
    this.#sleeps = sleeps;
    this.#lateMs = lateMs;
    this.#bundles = bundles;
    this.#instance = this.#start(1_800_000_000_000, { hasSlept: false });
  }

  get io(): Server {
    return this.#instance.stock.io;
  }

  socketOf({ nsp, id }: Client): Socket {
    return this.io.of(nsp).sockets.get(id!)!;
  }

  get problems(): readonly string[] {
    return [...this.#problems, ...this.#instance.stock.problems];
  }

  /** Whether it stays awake to look at its sockets. */
  get isLooking(): boolean {
    return this.#lookAtMs < Infinity;
  }

  get nowMs(): number {
    return this.#instance.stock.nowMs;
  }

  #start(nowMs: number, { hasSlept }: { hasSlept: boolean }): Instance {
    const recovery = new Recovery({ windowMs: WINDOW_MS, unnoticedMs: UNNOTICED_MS });
    let stock!: StockObject;
    const ports = { now: () => stock?.nowMs ?? nowMs, failed: (error: unknown) => this.#problems.push(String(error)) };
    const timers = this.#sleeps
      ? new Timers({ ...ports, report: () => {}, sleeps: true, active: () => recovery.active() })
      : undefined;
    const warn = (problem: string): void => void this.warnings.push(problem);
    const encoder = (): never => stock.io.encoder as never;
    const sleep = timers && new Sleep({ recovery, timers, encoder, warn });
    stock = new StockObject(sleep ? () => {} : this.#register, {
      options: {
        connectionStateRecovery: {},
        ...this.#options,
        adapter: recoverable(adapterOf(Server), recovery, sleep) as never,
      },
      own: { bundles: this.#bundles },
      timers,
      beforeSending: () => recovery.flush(),
      onUnjoined: () => warn("unjoined"),
      onFrame: (session, frame) => {
        this.leaving(frame);
        this.#links.get(session)?.client?.take(frame);
      },
      onClose: (session, { code }) => {
        this.#links.get(session)?.client?.closings.push(code);
        this.#links.delete(session);
      },
    });
    stock.nowMs = nowMs;
    this.sweepAtMs = Infinity;
    this.#lookAtMs = Infinity;
    recovery.open({
      storage: this.#counted(),
      now: () => stock.nowMs,
      newId,
      report: (problem, error) => this.#problems.push(`${problem}: ${String(error)}`),
      sweepAt: (atMs) => (this.sweepAtMs = Math.min(this.sweepAtMs, atMs)),
      lookAt: (atMs) => (this.#lookAtMs = Math.min(this.#lookAtMs, atMs)),
      onEmpty: () => {},
      sleeping: sleep && { hasSlept, asleepOf: (socket, data) => sleep.asleepOf(socket, data) },
    });
    if (!sleep) recovery.sweep(nowMs);
    // As an object calls it that may have slept.
    const registered = Promise.resolve(sleep && timers.run(() => this.#register(stock.io)));
    registered.catch(() => {});
    return { stock, recovery, sleep, registered };
  }

  /**
   * The object sleeps as soon as it may, and wakes. Its clients do not notice it.
   * @param leaving those whose closing wakes it
   */
  async sleep(...leaving: readonly Client[]): Promise<void> {
    await settled();
    // A look at its sockets keeps it awake.
    while (this.#lookAtMs < Infinity) {
      this.wait(this.#lookAtMs - this.nowMs);
      await settled();
    }
    this.commit();
    const slept = [...this.#links];
    this.#problems.push(...this.#instance.stock.problems);
    this.#links.clear();
    this.#instance = this.#start(this.nowMs, { hasSlept: slept.length > 0 });
    // As the platform: the youngest first.
    const isLeaving = ({ client }: Link): boolean => leaving.some((one) => one === client);
    for (const [session, link] of slept.toReversed()) if (!isLeaving(link)) this.#restore(session, link);
    await this.#restoreAll();
    // The platform does not name a connection that closes.
    const lose = async ([session, link]: (typeof slept)[number]): Promise<void> => {
      this.#restore(session, link);
      await this.#restoreAll();
      link.client?.break();
    };
    await Promise.all(slept.filter(([, link]) => isLeaving(link)).map(lose));
    await settled();
  }

  #restore(session: Session, link: Link): void {
    link.end = this.#instance.stock.restore(structuredClone(session.toRecord()));
    this.#links.set(link.end.session, link);
  }

  async #restoreAll(): Promise<void> {
    const { stock, sleep, registered } = this.#instance;
    const { server, layer } = stock;
    await sleep!.restore({
      server,
      layer,
      registered,
      now: () => this.nowMs,
      report: (problem, error) => this.#problems.push(`${problem}: ${String(error)}`),
      after: (_ms, run) => {
        const timer = setTimeout(run, this.#lateMs);
        return () => clearTimeout(timer);
      },
    });
    await settled();
  }

  #counted() {
    const { sql, kv } = this.storage;
    const count = (rows: number): void => void (this.rowsWritten += rows);
    return {
      kv: {
        list: (options: { readonly prefix: string }) => {
          const rows = kv.list(options);
          this.rowsRead += rows.length;
          return rows;
        },
        get: (key: string) => (this.rowsRead++, kv.get(key)),
        put: (key: string, value: unknown) => (count(1), kv.put(key, value)),
        delete: (key: string) => (count(1), kv.delete(key)),
      },
      sql: {
        // What workerd says of these: dropping a table writes none.
        exec: (query: string, ...bindings: Array<string | number>) => {
          if (query.startsWith("CREATE TABLE")) count(2);
          if (query.startsWith("INSERT")) count(1);
          return sql.exec(query, ...bindings);
        },
      },
    };
  }

  /** Opens a connection. */
  open(client: Client): Connection {
    const end = this.#instance.stock.open();
    const link: Link = { client, end };
    this.#links.set(end.session, link);
    return {
      send: (frame) => link.end.send(frame),
      vanish: () => void (link.client = undefined),
      lose: () => {
        if (this.#links.delete(link.end.session)) link.end.leave();
      },
    };
  }

  /** What was written becomes durable. */
  commit(): void {
    for (let group = this.storage.closeGroup(); group !== undefined; group = this.storage.closeGroup())
      this.storage.confirm(group);
  }

  /** Dies when all that it has written is durable. */
  die(deadMs = 0): void {
    this.commit();
    this.crash(deadMs);
  }

  /** The object dies, and starts again after a while. Its clients notice it. */
  crash(deadMs = 0): void {
    for (const { client } of this.#links.values()) client?.vanish();
    this.#links.clear();
    this.storage.crash(0);
    this.#problems.push(...this.#instance.stock.problems);
    this.#instance = this.#start(this.nowMs + deadMs, { hasSlept: false });
    if (this.#sleeps) this.#instance.recovery.allRestored(this.nowMs);
  }

  /** Time passes. */
  wait(ms: number): void {
    const { stock, recovery } = this.#instance;
    const untilMs = stock.nowMs + ms;
    while (Math.min(this.sweepAtMs, this.#lookAtMs) <= untilMs) {
      stock.nowMs = Math.min(this.sweepAtMs, this.#lookAtMs);
      if (this.#lookAtMs === stock.nowMs) {
        this.#lookAtMs = Infinity;
        recovery.look(stock.nowMs);
      }
      if (this.sweepAtMs === stock.nowMs) {
        this.sweepAtMs = Infinity;
        recovery.sweep(stock.nowMs);
      }
    }
    stock.nowMs = untilMs;
  }

  count(table: string): number {
    const known = this.storage.sql.exec("SELECT 1 FROM sqlite_master WHERE name = ?", table).toArray();
    if (known.length === 0) return 0;
    return this.storage.sql.exec(`SELECT count(*) AS n FROM ${table}`).toArray()[0]!["n"] as number;
  }

  get packetRows(): number {
    return this.count("stock_packets_0") + this.count("stock_packets_1");
  }

  /** The position of the last stored packet. */
  lastStored(): number {
    const { seq, audience } = this.storage.sql
      .exec("SELECT seq, audience FROM stock_packets_0 ORDER BY seq DESC LIMIT 1")
      .one() as { seq: number; audience: string };
    return seq + (JSON.parse(audience) as { to: unknown[] }).to.length - 1;
  }

  get sessionRows(): number {
    return this.storage.kv.list({ prefix: "stock-session:" }).length;
  }
}

interface Parser {
  readonly Encoder: typeof Encoder;
  readonly Decoder: typeof Decoder;
}

const STOCK: Parser = { Encoder, Decoder };

interface ClientOptions {
  /** One whose connection it shares. */
  readonly over?: Client;
  readonly auth?: object;
  readonly parser?: Parser;
}

/** Comes back as the stock client does: with its private id, and the last offset that it got. */
export class Client {
  readonly nsp: string;
  connection: Connection | undefined;
  id: string | undefined;
  recovered = false;
  /** The first arguments of all events, without the offsets. */
  readonly got: unknown[] = [];
  /** All events, with the answers that they want. */
  readonly events: Array<{ readonly name: unknown; readonly id: number | undefined }> = [];
  readonly errors: unknown[] = [];
  /** Codes with which the server closed its connections. */
  readonly closings: number[] = [];
  /** Answers to what it asked. */
  readonly answers: unknown[] = [];
  readonly #object: RecoveringObject;
  #auth: { pid?: string; offset?: string };
  /** Others over the same connection. */
  readonly #others: Client[] = [];
  readonly #over: Client | undefined;
  readonly #parser: Parser;
  #early: unknown[][] = [];
  #isIn = false;
  /** Whether the server has ended its socket. */
  isOut = false;
  /** How often it was let into its namespace. */
  entries = 0;
  #decoder: Decoder;

  constructor(object: RecoveringObject, nsp = "/", { over, auth = {}, parser = STOCK }: ClientOptions = {}) {
    this.#object = object;
    this.nsp = nsp;
    this.#over = over;
    this.#auth = auth;
    this.#parser = parser;
    this.#decoder = new parser.Decoder();
    if (over) over.#others.push(this);
  }

  async connect(): Promise<this> {
    this.#decoder = new this.#parser.Decoder();
    this.#decoder.on("decoded", (packet: Packet) => {
      const nsp = packet.nsp.split("?")[0];
      const to = [this, ...this.#others].find((one) => one.nsp === nsp);
      if (to) to.#packet(packet);
    });
    this.#isIn = false;
    this.connection = this.#over ? this.#over.connection : this.#object.open(this);
    await settled();
    this.#send({ type: PacketType.CONNECT, nsp: this.nsp, data: this.#auth });
    await settled();
    return this;
  }

  emit(...data: unknown[]): void {
    this.#send({ type: PacketType.EVENT, nsp: this.nsp, data });
  }

  /** Sends an event that wants an answer. */
  ask(event: string, ...args: unknown[]): void {
    this.#send({ type: PacketType.EVENT, nsp: this.nsp, data: [event, ...args], id: 1 });
  }

  #send(packet: Packet): void {
    for (const frame of new this.#parser.Encoder().encode(packet))
      this.connection?.send(typeof frame === "string" ? `4${frame}` : new Uint8Array(frame as Uint8Array));
  }

  /** Answers a question of the server. */
  answer(id: number, ...data: unknown[]): void {
    this.#send({ type: PacketType.ACK, nsp: this.nsp, data, id });
  }

  leave(): void {
    this.#send({ type: PacketType.DISCONNECT, nsp: this.nsp, data: undefined as never });
  }

  /** Its connection breaks. @returns what the object does when it notices */
  vanish(): () => void {
    const { connection } = this;
    connection?.vanish();
    this.connection = undefined;
    return () => connection?.lose();
  }

  /** Its connection breaks, and the object notices. */
  break(): void {
    this.vanish()();
  }

  take(frame: Frame): void {
    if (typeof frame !== "string") this.#decoder.add(Buffer.from(frame));
    else if (frame.startsWith("4")) this.#decoder.add(frame.slice(1));
  }

  #packet({ type, data, id }: Packet): void {
    if (type === PacketType.EVENT) this.events.push({ name: (data as unknown[])[0], id });
    if (type === PacketType.CONNECT) {
      const { sid, pid } = data as { sid: string; pid: string };
      this.id = sid;
      this.entries++;
      this.recovered = this.#auth.pid === pid;
      this.#auth = { ...this.#auth, pid };
      this.#isIn = true;
      for (const early of this.#early.splice(0)) this.#event(early);
    } else if (type === PacketType.CONNECT_ERROR) this.errors.push((data as { message: string }).message);
    else if (type === PacketType.DISCONNECT) this.isOut = true;
    else if (type === PacketType.ACK) this.answers.push((data as unknown[])[0]);
    else if (this.#isIn) this.#event(data as unknown[]);
    else this.#early.push(data as unknown[]);
  }

  #event(args: unknown[]): void {
    const offset = args.at(-1);
    if (args[0] === "bundle") for (const [, text] of args[1] as unknown[][]) this.got.push(text);
    else this.got.push(args[1]);
    if (typeof offset === "string" && args.length > 1) this.#auth = { ...this.#auth, offset };
  }
}
