// The host of core tests: drives one `Server` in memory. Tests turn its clock by hand; it keeps the records of sessions as the
// platform would, and restores the server from them after sleep. All other rooms in this folder are thin uses of it.
// The host of test/kit runs the real shell instead, in a thread with another clock; docs/decisions/platform.md says why there are both.
import { deserialize, serialize } from "node:v8";

import { CLOSINGS, TRANSPORT_CLOSE, TRANSPORT_ERROR, type Closing } from "../../src/socketio/wire/closings.ts";
import { ENGINE_PONG, type Frame } from "../../src/socketio/wire/engine-io.ts";
import { Meter } from "../../src/metrics/meter.ts";
import type { Namespace } from "../../src/socketio/server/namespace.ts";
import type { NamespaceTable } from "../../src/socketio/server/namespaces.ts";
import type { Effect } from "../../src/socketio/engine/effects.ts";
import type { ServerSideAnswer, ServerSideEvent } from "../../src/socketio/server/server-side.ts";
import { withoutPartial } from "../../src/socketio/server/records.ts";
import { Server, type ServerOptions, type ServerPorts } from "../../src/socketio/server/server.ts";
import type { Handshake, Session, SessionRecord } from "../../src/socketio/engine/session.ts";
import { Client } from "./client.ts";

export { Client, type Call } from "./client.ts";

/** When every test begins, in milliseconds since 1970. */
export const START_MS = Date.UTC(2026, 0, 1);

/** What the platform keeps of one sleeping WebSocket, serialized: its attachment. */
export const RECORD_BYTES_MAX = 16 * 1024;

export const OPTIONS: ServerOptions = {
  pingIntervalMs: 45_000,
  pingTimeoutMs: 30_000,
  maxPayloadBytes: 65_536,
  connectTimeoutMs: 10_000,
  transports: ["websocket"],
};

/** The platform takes longer than this to put an object to sleep. For an earlier deadline it stays awake, with a timer. */
const SLEEPY_MS = 1000;

/** Deadlines that may fall due in one `advance`; more of them are a deadline that sets itself again for ever. */
const TICKS_MAX = 100_000;

/** The problems that a server reported. */
export interface Problem {
  readonly problem: string;
  readonly error: unknown;
}

export class FakeShell {
  nowMs = START_MS;
  /** The problems as the operator would read them in the log. */
  readonly problems: Problem[] = [];
  /** Everything that reached the outside, in order. */
  readonly journal: string[] = [];
  /** When the server last had anything to do: an input or a deadline. */
  activeAtMs = START_MS;
  /** The size of the largest record kept so far. */
  recordBytesMax = 0;
  /** Called after each turn that an input began, and again when its asynchronous work is done. */
  afterTurn = (): void => {};
  readonly rooms: ServerPorts["rooms"];
  readonly #tokens: ServerPorts["tokens"];
  readonly #dynamic: NamespaceTable["dynamic"];
  readonly #phase: number;
  readonly #prefix: string;
  readonly #create: (meter: Meter) => Readonly<Record<string, Namespace>>;
  readonly #options: ServerOptions;
  #server!: Server;
  #clients = new Map<Session, Client>();
  #sessions = new Map<Client, Session>();
  readonly #records = new Map<Client, Uint8Array>();
  readonly #pongsAtMs = new Map<Client, number>();
  readonly #work = new Set<Promise<unknown>>();
  #ids = 0;
  /** How often the room slept. */
  sleeps = 0;

  /** @param create makes the application, again after each sleep, with its meter */
  constructor(
    create: (meter: Meter) => Readonly<Record<string, Namespace>>,
    {
      rooms,
      tokens,
      dynamic,
      phase = 0,
      prefix = "",
      ...options
    }: Partial<ServerOptions & Pick<ServerPorts, "rooms" | "phase" | "tokens"> & Pick<NamespaceTable, "dynamic">> & {
      /** Begins all ids of this server. */
      readonly prefix?: string;
    } = {},
  ) {
    this.rooms = rooms;
    this.#tokens = tokens;
    this.#dynamic = dynamic;
    this.#phase = phase;
    this.#prefix = prefix;
    this.#create = create;
    this.#options = { ...OPTIONS, ...options };
    this.#start();
    this.#server.wake();
  }

  #start(): void {
    const meter = new Meter();
    this.#server = new Server(
      this.#options,
      { static: this.#create(meter), dynamic: this.#dynamic },
      {
        now: () => this.nowMs,
        newId: () => `${this.#prefix}id-${++this.#ids}`,
        phase: this.#phase,
        apply: (effects) => this.#apply(effects),
        lastPongAtMs: (session) => this.#lastPongAtMs(this.#clients.get(session)),
        report: (problem, error) => {
          meter.count("problems:room");
          this.problems.push({ problem, error });
        },
        meter,
        ...(this.#tokens && { tokens: this.#tokens }),
        ...(this.rooms && { rooms: this.rooms }),
      },
    );
  }

  /** Receives an event of another room. */
  receiveServerSideEvent(event: ServerSideEvent): Promise<ServerSideAnswer> {
    this.activeAtMs = this.nowMs;
    return this.#server.receiveServerSideEvent(event);
  }

  // ---- connections -----------------------------------------------------------------------------------------

  /** Opens a connection, up to and with the Engine.IO handshake. */
  open(handshake: Partial<Handshake> = {}, { isExtended = false } = {}): Client {
    const client = new Client(
      {
        transmit: (frame) => this.#transmit(client, frame),
        lose: () => this.#lose(client),
        settle: () => this.settle(),
      },
      { isExtended },
    );
    const facts = { address: "192.0.2.1", query: {}, issued: this.nowMs, ...handshake };
    this.#server.open(facts, "websocket", { isExtended, pair: (session) => this.#pair(client, session) });
    return client;
  }

  /** Opens a connection and joins the main namespace. */
  async connect(
    handshake: Partial<Handshake> = {},
    auth?: object,
    extensions?: { isExtended: boolean },
  ): Promise<Client> {
    return this.open(handshake, extensions).connect(auth);
  }

  #pair(client: Client, session: Session): void {
    this.#clients.set(session, client);
    this.#sessions.set(client, session);
  }

  #transmit(client: Client, frame: Frame): void {
    const session = this.#sessions.get(client);
    if (!session) return;
    this.activeAtMs = this.nowMs;
    // The runtime answers pongs by itself: the server never sees one.
    if (frame === ENGINE_PONG) return void this.#pongsAtMs.set(client, this.nowMs);
    this.#follow(this.#server.receive(session, frame));
    this.rest();
  }

  #lose(client: Client): void {
    const session = this.#sessions.get(client);
    if (!session) return;
    this.activeAtMs = this.nowMs;
    this.#server.lost(session, TRANSPORT_CLOSE);
    this.#forget(client, session);
    this.rest();
  }

  /** Runs a call of another object. */
  turn(work: () => void): void {
    this.activeAtMs = this.nowMs;
    this.#server.effects.turn(work);
    this.rest();
  }

  /** Closes a session from the server's side. */
  close(session: Session, closing: Closing): void {
    this.#server.close(session, closing);
  }

  /** Called after each input was handled. */
  rest(): void {
    this.#server.effects.turn(() => this.afterTurn());
  }

  /** A client with extensions volunteers its heartbeats, and is taken to have done so just now. */
  #lastPongAtMs(client: Client | undefined): number | undefined {
    if (!client) return undefined;
    return client.isExtended && client.answersPings ? this.nowMs : this.#pongsAtMs.get(client);
  }

  #forget(client: Client, session: Session): void {
    this.#clients.delete(session);
    this.#sessions.delete(client);
    this.#records.delete(client);
    this.#pongsAtMs.delete(client);
  }

  #follow(work: void | Promise<void>): void {
    if (!work) return;
    this.#work.add(work);
    void work.finally(() => {
      this.#work.delete(work);
      this.rest();
    });
  }

  /** Waits until no handler is busy any more. */
  async settle(): Promise<void> {
    while (this.#work.size > 0) await Promise.allSettled(this.#work);
  }

  // ---- time and sleep --------------------------------------------------------------------------------------

  /** Milliseconds until something is due; Infinity where nothing is. */
  get quietMs(): number {
    return (this.#server.deadlines.next() ?? Infinity) - this.nowMs;
  }

  /** Whether the platform could put the room to sleep now: no handler is busy, nothing happened for a second, nor will in the next. */
  get canSleep(): boolean {
    if (this.#work.size > 0) return false;
    const isIdle = this.nowMs - this.activeAtMs >= SLEEPY_MS && this.quietMs > SLEEPY_MS;
    return isIdle && this.#server.deadlines.nextAwake() === undefined;
  }

  /** Turns the clock on and runs every deadline on the way at its moment. */
  advance(ms: number): void {
    const endMs = this.nowMs + ms;
    for (let ticks = 0; this.nowMs + this.quietMs <= endMs; ticks++) {
      if (ticks > TICKS_MAX) throw new Error(`a deadline sets itself again for ever: ${this.#server.tick().join()}`);
      this.nowMs += Math.max(0, this.quietMs);
      this.activeAtMs = this.nowMs;
      this.#server.tick();
      this.rest();
    }
    this.nowMs = endMs;
  }

  /** Rings the alarm that was set before the sleep, whether a deadline is due or not. */
  ring(): void {
    this.#server.tick();
    this.rest();
  }

  /** Sleeps and wakes: everything outside the records is lost. The clients notice nothing. */
  evict(): void {
    if (this.#work.size > 0) throw new Error("a room does not sleep while a handler is busy");
    this.sleeps++;
    const sleepers = [...this.#sessions.keys()];
    this.#clients = new Map();
    this.#sessions = new Map();
    this.#start();
    for (const client of sleepers) {
      const record = deserialize(this.#records.get(client)!) as SessionRecord;
      this.#server.restore(record, (session) => this.#pair(client, session));
    }
    this.#server.wake();
  }

  /** The process dies: connections and memory are lost, storage stays. */
  crash(): void {
    for (const [client, session] of this.#sessions) {
      this.#forget(client, session);
      client.end(TRANSPORT_ERROR);
    }
    this.#start();
    this.#server.wake();
  }

  // ---- effects ---------------------------------------------------------------------------------------------

  #apply(effects: readonly Effect[]): void {
    for (const effect of effects) {
      switch (effect.type) {
        case "send":
          for (const session of effect.sessions) this.#clients.get(session)?.deliver(effect.frames, this.journal);
          break;
        case "answer-poll":
        case "refuse-poll":
        case "adopt":
          throw new Error("nobody here speaks long-polling");
        case "close":
          this.#close(effect.session, effect.closing);
          break;
        case "save":
          this.#save(effect.session);
          break;
      }
    }
  }

  #close(session: Session, closing: Closing): void {
    const client = this.#clients.get(session);
    if (!client) return;
    this.#forget(client, session);
    client.end(closing);
  }

  /** As the platform does it: a record that is too large is refused, and costs the session. */
  #save(session: Session): void {
    const client = this.#clients.get(session);
    if (!client) return;
    const whole = session.toRecord();
    let bytes = serialize(whole);
    if (bytes.byteLength > RECORD_BYTES_MAX) bytes = serialize(withoutPartial(whole));
    if (bytes.byteLength > RECORD_BYTES_MAX) {
      this.problems.push({ problem: "a record is too large", error: bytes.byteLength });
      return this.#server.close(session, CLOSINGS.stateTooLarge);
    }
    this.recordBytesMax = Math.max(this.recordBytesMax, bytes.byteLength);
    this.#records.set(client, bytes);
  }
}
