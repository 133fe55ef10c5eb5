// The base class of Durable Objects that run a stock server, of the package socket.io unchanged: `parley-rooms/engine` exports it. A subclass serves
// it in a field; the Worker passes connections to it by `connect` (src/worker/connect/stock-connect.ts). The object is awake while it has
// connections; they end with it, and clients come back as after a restart of a server on Node. If asked to, it sleeps with its connections.
import { UPGRADE_HEADER, type UpgradeFacts } from "../src/rpc/upgrade-header.ts";
import { errorFacts, logProblem, writeLog } from "../src/settings/log.ts";
import type { Admission, Application, ObjectPorts } from "../src/socketio/object/application.ts";
import { internalsOf } from "../src/socketio/object/internals.ts";
import { newId } from "../src/socketio/object/new-id.ts";
import { SocketObject } from "../src/socketio/object/socket-object.ts";
import { openStored, RECOVERY_FORMAT } from "../src/socketio/object/stored-format.ts";
import { refuseTakenNames } from "../src/socketio/object/taken-names.ts";
import type { EngineOptions } from "../src/socketio/engine/engine.ts";
import { SessionServer } from "../src/socketio/engine/session-server.ts";
import { offerBundles } from "../src/stock/bundles.ts";
import { EngineServer } from "../src/stock/engine-server.ts";
import type { Written } from "../src/stock/engine-socket.ts";
import { StockLayer, type StockSession } from "../src/stock/layer.ts";
import { EngineRequest, EngineResponse } from "../src/stock/node-request.ts";
import { openRecovery, recoveryOf } from "../src/stock/opening.ts";
import {
  readServeOptions,
  siblingsMisused,
  UNREAD_BYTES_MAX,
  type EngineObjectOptions,
  type ObjectLimits,
} from "../src/stock/options.ts";
import { PacketLimits, type KnownNamespaces } from "../src/stock/packet-limits.ts";
import { adapterOf, recoverable } from "../src/stock/recovery-adapter.ts";
import type { Recovery } from "../src/stock/recovery.ts";
import { override } from "../src/stock/methods.ts";
import type { Presence, SiblingCall } from "../src/stock/sibling-link.ts";
import type { Siblings } from "../src/stock/siblings.ts";
import { Sleep } from "../src/stock/sleep.ts";
import { outside, Timers } from "../src/stock/timers.ts";

/** A server of socket.io 4.8, as far as an object needs it. */
interface StockServer {
  readonly _nsps: KnownNamespaces;
  bind(engine: never): unknown;
  /** Where its clients' addresses end. */
  path(): string;
  /** How long a client may be in no namespace, in milliseconds. */
  connectTimeout(): number;
  readonly sockets: { readonly adapter: unknown };
  readonly encoder: { encode(packet: never): Written[] };
}

/** The options among what the constructor takes: `Server` of socket.io takes an HTTP server, or a port, in their place. */
type OptionsAmong<Given> = Given extends object
  ? Given extends { listen(...args: never): unknown }
    ? never
    : Given
  : never;

/** What an application served. */
interface Served {
  readonly io: StockServer;
  readonly engine: EngineServer;
  /** Absent if its clients do not recover, or by an adapter of its own. */
  readonly recovery: Recovery | undefined;
  /** Calls `register` once. @returns done when it is, if that takes time */
  readonly registration: () => Promise<unknown>;
  readonly limits: ObjectLimits;
  readonly timers: Timers;
  readonly siblings: Siblings | undefined;
  /** If the object sleeps while clients are connected; then they recover, too. */
  readonly sleep: Sleep | undefined;
}

type StockServerOfSessions = SessionServer<StockSession, StockLayer>;

export abstract class EngineObject<Env = Cloudflare.Env> extends SocketObject<Env> {
  #served: Served | undefined;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env, (ports) => this.#create(ports));
  }

  /**
   * Makes a server, and runs the application with it: to be called once, in a field of the class. Connections wait for `register`.
   * @param Server that of the package socket.io
   * @param options those of the server; without `adapter`, it is the package's own, and with `connectionStateRecovery` one that survives crashes
   * @param own those of the object
   */
  protected serve<Given, Io extends StockServer>(
    Server: new (options: Given) => Io,
    options: OptionsAmong<Given>,
    register: (io: Io) => unknown,
    own: EngineObjectOptions = {},
  ): Io {
    if (this.#served) throw new Error(`${this.constructor.name}: serve: it serves one server only`);
    const { engine: engineOptions, limits, windowMs } = readServeOptions({ Server, options, register, own });
    const engine = new EngineServer(engineOptions, {
      newId,
      report: (problem, error) => logProblem("application.error", problem, error),
    });
    const recovery = recoveryOf(windowMs, engine);
    const timers = new Timers({
      now: () => Date.now(),
      report: (problem, place) =>
        writeLog(undefined, "warn", "application.interval", { problem, ...errorFacts(place) }),
      failed: logFailure,
      sleeps: own.sleep ?? false,
      active: () => recovery?.active(),
    });
    const { siblings, adapter: across } = own.siblings ? this.#meet(own.siblings) : {};
    const sleep = own.sleep
      ? new Sleep({ recovery: recovery!, timers, encoder: (): Io["encoder"] => io.encoder, warn: warnOf(this) })
      : undefined;
    const adapter = recovery ? recoverable(across ?? adapterOf(Server), recovery, sleep) : across;
    // The package writes into the options that it gets.
    const io: Io = timers.run(() => new Server({ ...options, ...(adapter && { adapter }) }));
    io.bind(engine as never);
    // Made by the package, if its options ask for CORS.
    const { _corsMiddleware: cors } = io as { _corsMiddleware?: Parameters<EngineServer["use"]>[0] };
    if (cors) engine.use(cors);
    if (own.bundles) offerBundles(io.sockets);
    logFailures();
    let registered: Promise<unknown> | undefined;
    const registration = (): Promise<unknown> => {
      if (registered) return registered;
      registered = Promise.resolve(timers.run(() => register(io)));
      // Each connection fails with it.
      registered.catch((error: unknown) => internalsOf(this).report("the application failed to start", error));
      return registered;
    };
    if (!sleep) void registration();
    this.#served = { io, engine, recovery, registration, limits, timers, siblings, sleep };
    return io;
  }

  #meet(meet: NonNullable<EngineObjectOptions["siblings"]>): ReturnType<typeof meet> {
    const met = meet(this.ctx.id.toString(), {
      now: () => Date.now(),
      newId,
      report: (problem, error) => internalsOf(this).report(problem, error),
      after,
    });
    // Of JavaScript, where it may be the function that lists them.
    if (!met.adapter) throw siblingsMisused();
    return met;
  }

  /** Called by RPC: by siblings. */
  async receiveFromSibling(call: SiblingCall): Promise<Presence> {
    const { siblings, timers } = this.#served!;
    if (!siblings) throw new Error(`${this.constructor.name}: its server has no siblings`);
    return internalsOf(this).turn(() => timers.run(() => siblings.receive(call)), "sibling");
  }

  #create(ports: ObjectPorts): Application {
    refuseTakenNames(this, EngineObject);
    const served = this.#served;
    if (!served) throw new Error(`${this.constructor.name}: no field calls this.serve(Server, options, register)`);
    const { io, engine, recovery, timers, siblings, sleep } = served;
    const limits = limitsOf(served);
    let layer!: StockLayer;
    const server = new SessionServer<StockSession, StockLayer>(limits, ports, (context) => {
      layer = new StockLayer(engine, context, ports, {
        limits: new PacketLimits(served.limits, () => io._nsps),
        connectTimeoutMs: io.connectTimeout(),
        run: (code) => {
          timers.onInput();
          timers.run(code);
        },
        beforeSending: () => recovery?.flush(),
        onUnjoined: () => sleep?.warn(UNJOINED_PROBLEM),
      });
      return layer;
    });
    // Code of the application sets deadlines, and the timers for them are not its own.
    override(server.deadlines, "changed", (changed) => () => outside(changed));
    // What siblings send is for those who may come back, too.
    const leaveIfEmpty = (): void => {
      if (engine.clientsCount === 0 && !recovery?.isAwaiting) siblings?.leave();
    };
    // Not when it has erased itself.
    const hasSlept = !internalsOf(this).started && this.ctx.getWebSockets().length > 0;
    const onLastGone =
      recovery &&
      openRecovery(recovery, {
        engine,
        server,
        ports,
        sleep,
        hasSlept,
        storage: openStored(ports.storage, RECOVERY_FORMAT),
        onEmpty: leaveIfEmpty,
      });
    engine.onPresence = (hasClients) => {
      timers.onPresence(hasClients);
      if (hasClients) return void siblings?.enter();
      onLastGone?.();
      leaveIfEmpty();
    };
    if (recovery?.isAwaiting) void siblings?.enter();
    return {
      server,
      limits,
      admit: (request, facts) => this.#admit(request, facts, served, { server, leaveIfEmpty }),
      ...(sleep && {
        settle: () => sleep.restore({ ...ports, server, layer, registered: served.registration(), after }),
      }),
    };
  }

  async #admit(
    request: Request,
    { url = "", address }: UpgradeFacts,
    { io, engine, registration, siblings }: Served,
    { server, leaveIfEmpty }: { server: StockServerOfSessions; leaveIfEmpty: () => void },
  ): Promise<Response | Admission> {
    await registration();
    if (!url.replace(/\/$/, "").endsWith(io.path())) return new Response("Not found", { status: 404 });
    const headers = new Headers(request.headers);
    headers.delete(UPGRADE_HEADER);
    const { search } = new URL(request.url);
    const asked = new EngineRequest({ method: request.method, url: url + search, headers, address });
    const response = new EngineResponse();
    asked.res = response;
    const decision = await engine.decide(asked, response, (sid) => {
      const session = server.sessions.get(sid);
      if (session) return session.polling ? "polling" : "websocket";
      return server.hasFinalPayload(sid) ? "over" : "unknown";
    });
    if (decision === "answered") return answerOf(response);
    if ("status" in decision) {
      const { status, code, message } = decision;
      return withHeaders(Response.json({ code, message }, { status }), response);
    }
    // What siblings send from now on reaches the client.
    if (decision.sid !== undefined) await siblings?.enter();
    return {
      sid: decision.sid,
      request: asked,
      answering: (answer) => {
        // The client was not let in.
        leaveIfEmpty();
        engine.finish(asked, response, answer.status, decision.sid);
        withHeaders(answer, response);
      },
    };
  }
}

function after(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
}

function limitsOf({ engine, limits, sleep }: Served): Application["limits"] & EngineOptions {
  const { pingInterval, pingTimeout, upgradeTimeout, maxHttpBufferSize, transports, allowUpgrades } = engine.opts;
  const { maxConnectionsPerIp, maxUnjoinedPerIp } = limits;
  return {
    pingIntervalMs: pingInterval,
    pingTimeoutMs: pingTimeout,
    upgradeTimeoutMs: upgradeTimeout,
    unreadBytesMax: UNREAD_BYTES_MAX,
    maxPayloadBytes: maxHttpBufferSize,
    maxConnectionsPerIp,
    maxUnjoinedPerIp,
    // Those that a client may upgrade to. `EngineServer.decide` knows those that it may open.
    transports: allowUpgrades && transports.includes("websocket") ? ["websocket"] : [],
    staysAwake: !sleep,
  };
}

/** In all objects of this isolate. */
const warned = new Set<string>();

/** Names of events, which are in some, may be without end. */
const WARNED_MAX = 200;

/** Each problem of a class once: an object that sleeps is made again and again. */
const warnOf =
  ({ constructor }: object) =>
  (problem: string): void => {
    const known = `${constructor.name}: ${problem}`;
    if (warned.has(known) || warned.size >= WARNED_MAX) return;
    warned.add(known);
    writeLog(undefined, "warn", "application.sleep", { problem });
  };

const UNJOINED_PROBLEM =
  "a client was in no namespace until `connectTimeout` was over, and kept the object awake: give that option fewer milliseconds";

/** The statuses of answers without a body. */
const BODILESS: ReadonlySet<number> = new Set([101, 204, 205, 304]);

/** What a middleware answered. */
function answerOf(response: EngineResponse): Response {
  const { statusCode: status, body } = response;
  const answer = BODILESS.has(status) ? new Response(null, { status }) : new Response(new Blob([...body]), { status });
  return withHeaders(answer, response);
}

function withHeaders(answer: Response, response: EngineResponse): Response {
  const lines = response.headerLines();
  for (const [name] of lines) answer.headers.delete(name);
  for (const [name, value] of lines) answer.headers.append(name, value);
  return answer;
}

interface Failure {
  readonly error?: unknown;
  readonly reason?: unknown;
}

const logFailure = (error: unknown): void => logProblem("application.error", "code of the application failed", error);

let logsFailures = false;

/**
 * A handler that fails harms nobody else, and its place is logged. socket.io calls handlers outside the turns of the engine, so the
 * isolate alone catches such an error: one listener serves all of its objects.
 */
function logFailures(): void {
  if (logsFailures) return;
  logsFailures = true;
  // The platform has the event; its types do not.
  const listen = addEventListener as (type: string, listener: (failure: Failure) => void) => void;
  listen("error", ({ error }) => logFailure(error));
  listen("unhandledrejection", ({ reason }) =>
    logProblem("application.rejection", "a promise was rejected, and nothing handles it", reason),
  );
}
