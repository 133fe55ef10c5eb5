// The Engine.IO server that the package socket.io is bound to (`io.bind`): `io.engine` of an application. Decides about requests with its
// middlewares and options, as engine.io does on Node. Made by the object (durable/engine-object.ts).
import { ENGINE_REFUSALS, type EngineRefusal } from "../socketio/wire/engine-io.ts";
import { cookieOf, type CookieOptions } from "./cookie.ts";
import type { EngineSocket, Written } from "./engine-socket.ts";
import { EngineRequest, EngineResponse, type HeaderValue } from "./node-request.ts";
import { WatchedEmitter } from "./watched-emitter.ts";

export type EngineTransportName = "polling" | "websocket";

type Middleware = (request: EngineRequest, response: EngineResponse, next: (error?: unknown) => void) => void;

/** Those options of socket.io's `Server` that concern its engine. Times are in milliseconds. */
export interface EngineServerOptions {
  readonly pingInterval?: number | undefined;
  readonly pingTimeout?: number | undefined;
  readonly upgradeTimeout?: number | undefined;
  readonly maxHttpBufferSize?: number | undefined;
  readonly transports?: readonly string[] | undefined;
  readonly allowUpgrades?: boolean | undefined;
  /** Sent to each connection first. */
  readonly initialPacket?: Written;
  readonly cookie?: boolean | CookieOptions | undefined;
  readonly allowRequest?:
    | ((request: EngineRequest, decide: (error: string | null | undefined, isAllowed: boolean) => void) => void)
    | undefined;
}

const DEFAULTS = {
  pingInterval: 25_000,
  pingTimeout: 20_000,
  upgradeTimeout: 10_000,
  maxHttpBufferSize: 1_000_000,
  transports: ["polling", "websocket"],
  allowUpgrades: true,
} as const;

type Options = EngineServerOptions & {
  readonly [Name in keyof typeof DEFAULTS]: NonNullable<EngineServerOptions[Name]>;
};

/** An answer of the server itself, in place of the session's. */
export interface Refusal {
  readonly status: number;
  readonly code: number;
  readonly message: string;
}

/** What becomes of a request: a middleware has answered it, it is refused, or it goes on, with an id if it opens a session. */
export type Decision = "answered" | Refusal | { readonly sid?: string };

/** The session of a request as the layer knows it. */
type Known = "unknown" | "over" | EngineTransportName;

interface EngineServerPorts {
  /** A fresh id that cannot be guessed. */
  newId(): string;
  /** Called with the error of code of the application that fails. */
  report(problem: string, error: unknown): void;
}

export class EngineServer extends WatchedEmitter {
  readonly opts: Options;
  readonly clients: Record<string, EngineSocket> = {};
  clientsCount = 0;
  readonly middlewares: Middleware[] = [];
  isClosed = false;
  /** Called when the first client has come, and when the last one has gone. */
  onPresence: (hasClients: boolean) => void = () => {};
  readonly #ports: EngineServerPorts;

  constructor(options: EngineServerOptions, ports: EngineServerPorts) {
    super();
    const given = Object.entries(options).filter(([, value]) => value !== undefined);
    this.opts = { ...DEFAULTS, ...Object.fromEntries(given) };
    this.#ports = ports;
  }

  use(middleware: Middleware): void {
    this.middlewares.push(middleware);
  }

  /** An application may replace it. */
  generateId(_request: EngineRequest): string | Promise<string> {
    return this.#ports.newId();
  }

  /** Closes all connections; further ones are refused. Called by `io.close()`. */
  close(): this {
    this.isClosed = true;
    for (const client of Object.values(this.clients)) client.close(true);
    return this;
  }

  /** Called when a session is opened. */
  opened(socket: EngineSocket): void {
    this.clients[socket.id] = socket;
    this.clientsCount++;
    if (this.clientsCount === 1) this.onPresence(true);
    // While middlewares looked at its request.
    if (this.isClosed) socket.close(true);
    else this.emit("connection", socket);
  }

  /** Called when a session is over, before the application is notified. */
  closed({ id }: EngineSocket): void {
    delete this.clients[id];
    this.clientsCount--;
    if (this.clientsCount === 0) this.onPresence(false);
  }

  /** @param knownAs asked once middlewares have run, which may take a while */
  async decide(request: EngineRequest, response: EngineResponse, knownAs: (sid: string) => Known): Promise<Decision> {
    if (this.isClosed) return { status: 503, code: ENGINE_REFUSALS.badRequest.code, message: "Server closed" };
    const failure = await this.#runMiddlewares(request, response);
    if (response.writableEnded) return "answered";
    if (failure) return this.#refuse(request, "badRequest", { name: "MIDDLEWARE_FAILURE" });
    const { transport = "", sid } = request._query;
    if (!this.opts.transports.includes(transport)) return this.#refuse(request, "unknownTransport", { transport });
    if (sid === undefined) return this.#decideNew(request);
    const known = knownAs(sid);
    if (known === "unknown") return this.#refuse(request, "unknownSid", { sid });
    if (known !== "over" && known !== transport && !isUpgrade(request))
      return this.#refuse(request, "badRequest", {
        name: "TRANSPORT_MISMATCH",
        transport,
        previousTransport: known,
      });
    return {};
  }

  async #decideNew(request: EngineRequest): Promise<Refusal | { readonly sid: string }> {
    const { method } = request;
    if (method !== "GET") return this.#refuse(request, "badMethod", { method });
    if (request._query["transport"] === "websocket" && !isUpgrade(request))
      return this.#refuse(request, "badRequest", { name: "TRANSPORT_HANDSHAKE_ERROR" });
    const [message, isAllowed] = await this.#askWhetherAllowed(request);
    if (!isAllowed) return this.#refuse(request, "forbidden", { message });
    try {
      return { sid: await this.generateId(request) };
    } catch (error) {
      this.#failed("generateId", error);
      return this.#refuse(request, "badRequest", { name: "ID_GENERATION_ERROR", error });
    }
  }

  #askWhetherAllowed(request: EngineRequest): Promise<[message: string | null | undefined, isAllowed: boolean]> {
    const { allowRequest } = this.opts;
    return new Promise((resolve) => {
      if (!allowRequest) return resolve([undefined, true]);
      const fail = (error: unknown): void => {
        this.#failed("allowRequest", error);
        resolve([undefined, false]);
      };
      call(() => allowRequest(request, (...decided) => resolve(decided)), fail);
    });
  }

  /** @returns the error of the first that fails */
  async #runMiddlewares(request: EngineRequest, response: EngineResponse): Promise<unknown> {
    for (const middleware of this.middlewares) {
      const error = await new Promise<unknown>((resolve) => {
        response.once("finish", () => resolve(undefined));
        const fail = (thrown: unknown): void => {
          this.#failed("a middleware", thrown);
          resolve(thrown ?? new Error("failed"));
        };
        call(() => middleware(request, response, resolve), fail);
      });
      if (error || response.writableEnded) return error;
    }
    return undefined;
  }

  #failed(what: string, error: unknown): void {
    this.#ports.report(`${what} failed`, error);
  }

  /** Calls listeners of the application. */
  #tell(event: string, ...args: unknown[]): void {
    call(
      () => this.emit(event, ...args),
      (error) => this.#failed(`a listener of ${event}`, error),
    );
  }

  #refuse(request: EngineRequest, refusal: EngineRefusal, context: Readonly<Record<string, unknown>>): Refusal {
    const { code, message } = ENGINE_REFUSALS[refusal];
    this.#tell("connection_error", { req: request, code, message, context });
    const own = refusal === "forbidden" ? context["message"] : undefined;
    return { status: refusal === "forbidden" ? 403 : 400, code, message: typeof own === "string" ? own : message };
  }

  /** Completes the answer to a request with what middlewares and listeners add. */
  finish(request: EngineRequest, response: EngineResponse, status: number, openedSid: string | undefined): void {
    const isPolling = request._query["transport"] === "polling";
    const added: Record<string, HeaderValue> = {};
    if (openedSid !== undefined) {
      const { cookie } = this.opts;
      if (cookie && isPolling) added["Set-Cookie"] = [cookieOf(openedSid, cookie === true ? {} : cookie)];
      this.#tell("initial_headers", added, request);
    }
    this.#tell("headers", added, request);
    for (const [name, value] of Object.entries(added)) response.setHeader(name, value);
    response.writeHead(status);
    if (isPolling) response.end();
    request.res = null;
  }
}

const isUpgrade = ({ headers }: EngineRequest): boolean => headers["upgrade"]?.toLowerCase() === "websocket";

/** Calls code that may be asynchronous, against its type. @param fail called with what it throws or rejects with */
function call(code: () => unknown, fail: (error: unknown) => void): void {
  try {
    const result = code();
    if (result instanceof Promise) result.catch(fail);
  } catch (error) {
    fail(error);
  }
}
