// An object of `parley-rooms/engine` in memory: a server of the package socket.io over the layer, its limits and its siblings, without the
// platform. Called by tests of src/stock.
import { Server, type ServerOptions } from "socket.io";

import type { Effect } from "../../../src/socketio/engine/effects.ts";
import type { Session, SessionRecord } from "../../../src/socketio/engine/session.ts";
import type { Transport } from "../../../src/socketio/engine/engine.ts";
import { SessionServer } from "../../../src/socketio/engine/session-server.ts";
import { UnjoinedQuota } from "../../../src/socketio/engine/unjoined-quota.ts";
import { TRANSPORT_CLOSE, type Closing } from "../../../src/socketio/wire/closings.ts";
import type { Frame } from "../../../src/socketio/wire/engine-io.ts";
import { offerBundles } from "../../../src/stock/bundles.ts";
import { EngineServer } from "../../../src/stock/engine-server.ts";
import { StockLayer, type StockSession } from "../../../src/stock/layer.ts";
import { EngineRequest } from "../../../src/stock/node-request.ts";
import { readObjectOptions, type EngineObjectOptions } from "../../../src/stock/options.ts";
import { PacketLimits } from "../../../src/stock/packet-limits.ts";
import type { Timers } from "../../../src/stock/timers.ts";

/** Lets all that waits for no timer happen: packets pass promises and ticks on their way through socket.io. */
export async function settle(): Promise<void> {
  for (let rounds = 0; rounds < 20; rounds++) await new Promise((resolve) => void setImmediate(resolve));
}

let sids = 0;
const newId = (): string => `sid-${++sids}`;

interface StockObjectOptions {
  readonly options?: Partial<ServerOptions>;
  readonly own?: EngineObjectOptions;
  /** Called before frames leave. */
  readonly beforeSending?: () => void;
  /** Called for each frame that leaves over a WebSocket. */
  readonly onFrame?: (session: Session, frame: Frame) => void;
  /** Called when the server closes a connection. */
  readonly onClose?: (session: Session, closing: Closing) => void;
  /** Given if the object sleeps. */
  readonly timers?: Timers | undefined;
  /** Called when a client was in no namespace for too long. */
  readonly onUnjoined?: () => void;
}

export class StockObject {
  readonly io: Server;
  readonly engine: EngineServer;
  readonly server: SessionServer<StockSession, StockLayer>;
  readonly unjoined = new UnjoinedQuota();
  /** What an operator would read. */
  readonly problems: string[] = [];
  nowMs = 1_000_000;
  readonly #clients = new Map<Session, StockClient>();
  readonly #onFrame: (session: Session, frame: Frame) => void;
  readonly #onClose: (session: Session, closing: Closing) => void;
  layer!: StockLayer;

  constructor(
    register: (io: Server) => unknown,
    {
      options = {},
      own = {},
      beforeSending = () => {},
      onFrame = () => {},
      onClose = () => {},
      timers,
      onUnjoined = () => {},
    }: StockObjectOptions = {},
  ) {
    this.#onFrame = onFrame;
    this.#onClose = onClose;
    const run = <Result>(code: () => Result): Result => (timers ? timers.run(code) : code());
    this.io = run(() => new Server(options));
    const report = (problem: string, error: unknown): void => void this.problems.push(`${problem}: ${String(error)}`);
    this.engine = new EngineServer({ maxHttpBufferSize: options.maxHttpBufferSize }, { newId, report });
    this.io.bind(this.engine);
    if (own.bundles) offerBundles(this.io.sockets);
    const limits = new PacketLimits(readObjectOptions(own), () => this.io._nsps);
    const ports = { now: () => this.nowMs, report, unjoined: this.unjoined };
    this.server = new SessionServer(
      {
        pingIntervalMs: 25_000,
        pingTimeoutMs: 20_000,
        maxPayloadBytes: this.engine.opts.maxHttpBufferSize,
        transports: ["websocket"],
        staysAwake: !timers,
      },
      {
        ...ports,
        newId,
        phase: 0,
        apply: (effects) => effects.forEach((one) => this.#apply(one)),
        lastPongAtMs: () => 0,
      },
      (context) => {
        const parts = { limits, connectTimeoutMs: 45_000, run, beforeSending, onUnjoined };
        this.layer = new StockLayer(this.engine, context, ports, parts);
        return this.layer;
      },
    );
    run(() => register(this.io));
  }

  #apply(effect: Effect): void {
    if (effect.type === "send")
      for (const session of effect.sessions) {
        for (const frame of effect.frames) this.#onFrame(session, frame);
        this.#clients.get(session)?.frames.push(...effect.frames);
      }
    if (effect.type === "answer-poll") this.#clients.get(effect.session)?.frames.push(...effect.payload.split("\x1e"));
    if (effect.type !== "close") return;
    this.#clients.get(effect.session)!.closing = effect.closing;
    this.#onClose(effect.session, effect.closing);
  }

  /** Brings back a connection that slept. */
  restore(record: SessionRecord): StockClient {
    let client: StockClient | undefined;
    this.server.restore(record, (session) => {
      client = new StockClient(this, session as StockSession);
      this.#clients.set(session, client);
    });
    return client!;
  }

  /** Opens a connection, which has joined nothing yet. */
  open({
    address = "192.0.2.1",
    transport = "websocket",
    query = {},
  }: { address?: string; transport?: Transport; query?: Readonly<Record<string, string>> } = {}): StockClient {
    const url = `http://x/socket.io/?${String(new URLSearchParams({ EIO: "4", transport, ...query }))}`;
    const request = new EngineRequest({ method: "GET", url, headers: [], address });
    const handshake = { address, query: {}, issued: this.nowMs };
    let client: StockClient | undefined;
    this.server.open(handshake, transport, {
      request,
      pair: (session) => {
        client = new StockClient(this, session as StockSession);
        this.#clients.set(session, client);
      },
    });
    return client!;
  }

  /** @param connect the namespace, and what stands for its `auth` */
  async join(connect = "", query?: Readonly<Record<string, string>>): Promise<StockClient> {
    const client = this.open(query && { query });
    client.send(`40${connect}`);
    await settle();
    return client;
  }
}

/** A client that reads frames itself. */
export class StockClient {
  readonly frames: Frame[] = [];
  closing: Closing | undefined;
  readonly #object: StockObject;
  readonly session: StockSession;

  constructor(object: StockObject, session: StockSession) {
    this.#object = object;
    this.session = session;
  }

  send(...frames: readonly Frame[]): void {
    for (const frame of frames) void this.#object.server.receive(this.session, frame);
  }

  /** Sends the body of a post, and polls for what comes, as often as something does. @returns whether the body was taken */
  async post(body: string): Promise<boolean> {
    const { server } = this.#object;
    const isTaken = server.beginPost(this.session) && server.endPost(this.session, body);
    for (let polls = 0; polls < 10 && server.poll(this.session); polls++) await settle();
    return isTaken;
  }

  leave(): void {
    this.#object.server.lost(this.session, TRANSPORT_CLOSE);
  }

  /** The id of its socket in the namespace that it joined first. */
  get id(): string {
    const connect = this.frames.find((frame) => typeof frame === "string" && frame.startsWith("40")) as string;
    return (JSON.parse(connect.slice(connect.indexOf("{"))) as { sid: string }).sid;
  }

  /** Events so far, each with its name and arguments; bytes as they come after it. */
  get events(): unknown[][] {
    const bytes = this.frames.filter((frame) => typeof frame !== "string");
    const texts = this.frames.filter((frame): frame is string => typeof frame === "string" && /^4[25]/.test(frame));
    return texts.map((frame) => {
      const json = frame.slice(frame.indexOf("["));
      return JSON.parse(json, (_key, value: { _placeholder?: true } | null) =>
        value?._placeholder ? Buffer.from(bytes.shift()!) : value,
      ) as unknown[];
    });
  }
}
