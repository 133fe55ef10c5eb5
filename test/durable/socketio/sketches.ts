// Third-party applications for the tests of SocketIoObject and connect: the smallest one, and one with mistakes.
/* oxlint-disable unicorn/no-thenable -- values of applications may have a field `then` */
import {
  connectionStateRecovery,
  Namespace,
  SocketIoObject,
  type ConnectRequest,
  type Deadline,
  type EventsMap,
  type Handlers,
  type Identity,
  type SocketIoOptions,
} from "parley-rooms/socketio";

class Sketch extends Namespace {
  handlers: Handlers = {
    draw: (socket, line) => socket.broadcast.emit("draw", line),
    "fail later": async () => {
      await Promise.resolve();
      throw new Error("a mistake after an await");
    },
    whoami: (socket, ack) => ack({ ...socket.data, user: socket.user ?? null, transport: socket.transport }),
  };

  override authorize({ identity, handshake }: ConnectRequest<Identity & { readonly plan?: string }>) {
    const { query } = handshake;
    return { accepted: true as const, data: { plan: identity?.plan ?? null, name: identity?.name ?? null, query } };
  }
}

class Beats extends Namespace {
  handlers: Handlers = {};

  override onStart(): void {
    this.every("beat", 60_000, async () => void this.emit("beat"));
  }
}

/** As in the first example of docs/from-socket-io.md, with more to look at. */
export class SketchObject extends SocketIoObject {
  namespaces = { "/": new Sketch(), "/staff": new Sketch(), "/beats": new Beats() };
  override dynamicNamespaces = [{ match: /\/pitch-.*/, create: () => new Pitch() }];

  async draw(line: unknown): Promise<void> {
    this.namespaces["/"].emit("draw", line);
  }

  async sockets(): Promise<number> {
    return this.namespaces["/"].sockets.size;
  }
}

/** Moves a ball while a player watches: a tick every 50 ms, and its place in storage for the time after sleep. */
class Pitch extends Namespace<EventsMap, EventsMap, unknown, EventsMap, { readonly ENVIRONMENT: string }> {
  #tick!: Deadline;
  readonly started: number[] = [];

  handlers: Handlers = {
    kick: (_socket, ticks, ack) => (this.kick(ticks), ack()),
    read: (_socket, bytes, ack) => ack(bytes.constructor.name, String(bytes)),
    where: (_socket, ack) => ack(this.ctx.id.name, this.env.ENVIRONMENT),
  };

  get #kv(): SyncKvStorage {
    return this.ctx.storage.kv;
  }

  override onStart(): void {
    this.started.push(this.#kv.get<number>("place") ?? 0);
    this.#tick = this.deadline("tick", (nowMs) => this.#move(nowMs));
    if (this.#left > 0) this.#tick.set(Date.now());
  }

  get #left(): number {
    return this.#kv.get<number>("left") ?? 0;
  }

  kick(ticks: number): void {
    this.#kv.put("left", ticks);
    this.#tick.set(Date.now() + 50);
  }

  #move(nowMs: number): void {
    const place = (this.#kv.get<number>("place") ?? 0) + 1;
    this.#kv.put("place", place);
    this.volatile.emit("ball", place);
    if (this.#left <= 1) return void this.#kv.delete("left");
    this.#kv.put("left", this.#left - 1);
    this.#tick.set(nowMs + 50);
  }
}

export class PitchObject extends SocketIoObject {
  namespaces = { "/": new Pitch() };
  override recovery = connectionStateRecovery();
  override options: SocketIoOptions = {
    pingInterval: 900,
    pingTimeout: 30_000,
    maxHttpBufferSize: 1000,
  };
  #isOpen: boolean | undefined;

  protected override async prepare(): Promise<void> {
    await scheduler.wait(10);
    this.#isOpen = (await this.ctx.storage.get<boolean>("open")) ?? true;
    if (!this.#isOpen) throw new Error("the pitch is closed");
  }

  /** From a matchmaker, before any player is connected. */
  async begin(ticks: number): Promise<boolean | undefined> {
    this.namespaces["/"].kick(ticks);
    return this.#isOpen;
  }

  async restart(): Promise<readonly number[]> {
    await this.erase();
    return this.namespaces["/"].started;
  }
}

const shared = { "/": new Sketch() };

const OPTIONS: Readonly<Record<string, object>> = {
  option: { pingIntervall: 1 },
  range: { pingTimeout: 0 },
  sum: { pingInterval: 2 ** 30, pingTimeout: 2 ** 30 },
  pigeon: { transports: ["websocket", "pigeon"] },
  polled: { transports: ["polling"] },
  unpolled: { transports: ["websocket"] },
  crowded: { maxConnectionsPerIp: 2 },
};

/** By the name of the room: values that are no functions, and functions that return no user. */
const VERIFIERS: Readonly<Record<string, unknown>> = {
  empty: "",
  fixed: "the token",
  agreeing: () => true,
  fetching: async () => Response.json({ user: "ada" }, { status: 401 }),
  numbering: () => ({ user: 7 }),
  nameless: () => ({ name: "Ada", accepted: true, ok: true }),
  dating: () => ({ user: "ada", exp: new Date(8e15) }),
  timeless: () => ({ user: "ada", exp: Date.parse("never") / 1000 }),
  undecided: () => ({ ok: false, code: "TIRED", message: "later" }),
  wide: () => ({
    user: "ada",
    accepted: true,
    data: 1,
    then: "x",
    ok: false,
    code: "UNAUTHORIZED",
    message: "terms",
    status: 401,
  }),
};

/** Asks for its object too soon. */
class Hasty extends Sketch {
  readonly rows = this.ctx.storage.kv;
}

/** Namespaces that are none, by the name of the room. */
const WRONG: Readonly<Record<string, object | undefined>> = {
  bare: undefined,
  slashless: { board: new Sketch() },
  plain: { "/": { handlers: {} } },
  handlerless: { "/": Object.assign(new Sketch(), { handlers: undefined }) },
};

/** The name of its room says how it is made, and its fault. */
export class MistakenObject extends SocketIoObject {
  readonly #name = this.ctx.id.name!;
  namespaces = this.#name.startsWith("shared")
    ? shared
    : this.#name in WRONG
      ? (WRONG[this.#name] as never)
      : { "/": this.#name === "hasty" ? new Hasty() : new Sketch() };
  override options = (OPTIONS[this.#name] ?? {}) as SocketIoOptions;
  override verify = VERIFIERS[this.#name] as never;
  readonly made = this.#name === "hiding" && Object.assign(this, { alarm() {} });
}
