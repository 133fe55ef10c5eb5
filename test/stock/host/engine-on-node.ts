// The layer under socket.io in Node, in the place of the package engine.io: `attach`, `listen` and `Server` over HTTP and the package ws, so that
// the tests of socket.io and engine.io can run with it. Loaded by scripts/stock-suites.ts, which gives the packages.
import { randomBytes } from "node:crypto";
import type { IncomingMessage, Server as HttpServer, ServerResponse } from "node:http";
import * as http from "node:http";
import { createRequire } from "node:module";
import path from "node:path";
import type { Duplex } from "node:stream";

import type { Effect } from "../../../src/socketio/engine/effects.ts";
import { SessionServer } from "../../../src/socketio/engine/session-server.ts";
import type { Session } from "../../../src/socketio/engine/session.ts";
import { TRANSPORT_CLOSE, TRANSPORT_ERROR } from "../../../src/socketio/wire/closings.ts";
import { EngineServer, type EngineServerOptions, type Refusal } from "../../../src/stock/engine-server.ts";
import { EngineSocket } from "../../../src/stock/engine-socket.ts";
import { StockLayer, type StockSession } from "../../../src/stock/layer.ts";
import { EngineResponse, type EngineRequest } from "../../../src/stock/node-request.ts";
import { UNREAD_BYTES_MAX } from "../../../src/stock/options.ts";
import { PacketLimits } from "../../../src/stock/packet-limits.ts";

/** The packages of the suites. */
const load = createRequire(path.join(process.cwd(), "package.json"));

interface NodeWebSocket {
  readonly readyState: number;
  binaryType: string;
  on(event: "message", listener: (data: Buffer, isBinary: boolean) => void): void;
  on(event: "close" | "error", listener: () => void): void;
  send(data: string | Uint8Array): void;
  close(code?: number, reason?: string): void;
}
interface WebSocketServer {
  on(event: "headers", listener: (lines: string[], request: IncomingMessage) => void): void;
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer, done: (ws: NodeWebSocket) => void): void;
}
const { WebSocketServer: Wss } = load("ws") as { WebSocketServer: new (options: object) => WebSocketServer };

type Options = EngineServerOptions & {
  readonly path?: string;
  readonly addTrailingSlash?: boolean;
  readonly destroyUpgrade?: boolean;
  readonly destroyUpgradeTimeout?: number;
  readonly cors?: unknown;
};

type Asked = EngineRequest & IncomingMessage & { _query: Record<string, string> };

const NO_LIMITS = { maxConnects: 0, maxPackets: 0, maxNamespaces: 0, maxPartialBytes: 0 };

/** What the application throws reaches the process, as on Node: all but the error of an id, of which engine.io tells by `connection_error` alone. */
const throwLater = (problem: string, error: unknown): void =>
  queueMicrotask(() => {
    if (!problem.startsWith("generateId")) throw error;
  });

const newId = (): string => randomBytes(15).toString("base64url");

export class Server extends EngineServer {
  readonly #sessions: SessionServer<StockSession, StockLayer>;
  readonly #polls = new Map<Session, (status: number, body: string) => void>();
  readonly #webSockets = new Map<Session, NodeWebSocket>();
  readonly #wss = new Wss({ noServer: true, clientTracking: false, maxPayload: 2 ** 30 });
  readonly #upgradeHeaders = new WeakMap<IncomingMessage, EngineResponse>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: Options = {}) {
    super(options, { newId, report: throwLater });
    const { pingInterval, pingTimeout, upgradeTimeout, maxHttpBufferSize, transports, allowUpgrades } = this.opts;
    if (options.cors)
      this.use((load("cors") as (options: unknown) => Parameters<EngineServer["use"]>[0])(options.cors));
    this.#sessions = new SessionServer<StockSession, StockLayer>(
      {
        pingIntervalMs: pingInterval,
        pingTimeoutMs: pingTimeout,
        upgradeTimeoutMs: upgradeTimeout,
        unreadBytesMax: UNREAD_BYTES_MAX,
        maxPayloadBytes: maxHttpBufferSize,
        transports: allowUpgrades && transports.includes("websocket") ? ["websocket"] : [],
        staysAwake: true,
      },
      {
        now: () => Date.now(),
        newId,
        phase: 0,
        apply: (effects) => effects.forEach((effect) => this.#apply(effect)),
        lastPongAtMs: () => undefined,
        report: (problem, error) => console.error(problem, error),
      },
      (context) =>
        new StockLayer(
          this,
          context,
          {
            now: () => Date.now(),
            report: throwLater,
          },
          { limits: new PacketLimits(NO_LIMITS, () => new Map()), connectTimeoutMs: 0, run: (code) => code() },
        ),
    );
    this.#sessions.deadlines.watch(() => this.#schedule());
    this.#wss.on("headers", (lines, request) => {
      for (const [name, value] of this.#upgradeHeaders.get(request)?.headerLines() ?? [])
        lines.push(`${name}: ${value}`);
    });
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    const atMs = this.#sessions.deadlines.next();
    if (atMs === undefined) return;
    this.#timer = setTimeout(() => (this.#sessions.tick(), this.#schedule()), Math.max(0, atMs - Date.now()));
  }

  #apply(effect: Effect): void {
    switch (effect.type) {
      case "send":
        for (const session of effect.sessions)
          for (const frame of effect.frames) this.#webSockets.get(session)?.send(frame);
        return;
      case "answer-poll":
        return this.#answer(effect.session, 200, effect.payload);
      case "refuse-poll":
        return this.#answer(effect.session, 400, "");
      case "adopt": {
        const ws = this.#webSockets.get(effect.probe)!;
        this.#webSockets.delete(effect.probe);
        this.#webSockets.set(effect.session, ws);
        return;
      }
      case "close": {
        const { code, reason } = effect.closing;
        const ws = this.#webSockets.get(effect.session);
        this.#webSockets.delete(effect.session);
        return code === 1005 ? ws?.close() : ws?.close(code, reason);
      }
      case "save":
    }
  }

  #answer(session: Session, status: number, body: string): void {
    const answer = this.#polls.get(session);
    this.#polls.delete(session);
    answer?.(status, body);
  }

  #knownAs(sid: string): "unknown" | "over" | "polling" | "websocket" {
    const session = this.#sessions.sessions.get(sid);
    if (session) return session.polling ? "polling" : "websocket";
    return this.#sessions.hasFinalPayload(sid) ? "over" : "unknown";
  }

  #prepare(request: IncomingMessage): Asked {
    const asked = request as Asked;
    asked._query ??= Object.fromEntries(new URL(request.url!, "http://x").searchParams);
    return asked;
  }

  async #decide(asked: Asked, response: EngineResponse) {
    const decision = await this.decide(asked, response, (sid) => this.#knownAs(sid));
    if (decision === "answered" || "status" in decision || asked._query["EIO"] === "4") return decision;
    const message = "Unsupported protocol version";
    this.emit("connection_error", { req: asked, code: 5, message, context: { protocol: 3 } });
    return { status: 400, code: 5, message };
  }

  async handleRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const asked = this.#prepare(request);
    let payload: string | undefined;
    const end = response.end.bind(response) as (chunk?: unknown) => ServerResponse;
    // What the session says; middlewares replace it, and call it with nothing.
    response.end = ((chunk?: unknown) => end(chunk ?? payload)) as ServerResponse["end"];
    const collected = response as unknown as EngineResponse;
    asked.res = collected;
    const decision = await this.#decide(asked, collected);
    if (decision === "answered") return;
    if ("status" in decision) return refuse(response, decision);
    const finish = (status: number, body: string, type = "text/plain; charset=UTF-8"): void => {
      response.setHeader("Content-Type", type);
      payload = body;
      this.finish(asked, collected, status, decision.sid);
    };
    const { sid } = asked._query;
    if (sid === undefined) return this.#open(asked, decision.sid!, (status, body) => finish(status, body));
    const session = this.#sessions.sessions.get(sid);
    if (request.method === "POST") return this.#post(session, request, finish);
    if (session) return this.#poll(session, finish);
    finish(200, this.#sessions.takeFinalPayload(sid) ?? "1");
  }

  #open(asked: Asked, sid: string, answer: (status: number, body: string) => void): void {
    const handshake = { address: asked.socket.remoteAddress ?? "", query: {}, issued: Date.now() };
    const session = this.#sessions.open(handshake, "polling", { isJavaScript: true, sid, request: asked });
    // The application may have closed it at once.
    if (session.closed) return answer(200, this.#sessions.takeFinalPayload(sid) ?? "1");
    this.#poll(session, answer);
  }

  #poll(session: Session, answer: (status: number, body: string) => void): void {
    const isFirst = !this.#polls.has(session);
    if (isFirst) this.#polls.set(session, answer);
    if (this.#sessions.poll(session)) return;
    if (isFirst) this.#polls.delete(session);
    answer(400, "");
  }

  async #post(
    session: Session | undefined,
    request: IncomingMessage,
    finish: (status: number, body: string, type?: string) => void,
  ): Promise<void> {
    if (session && !this.#sessions.beginPost(session)) return finish(400, "");
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes <= this.opts.maxHttpBufferSize) chunks.push(chunk);
    }
    if (!session) return finish(200, "ok", "text/html");
    if (bytes > this.opts.maxHttpBufferSize) {
      this.#sessions.abandonPost(session);
      return finish(413, "");
    }
    const isGood = this.#sessions.endPost(session, Buffer.concat(chunks).toString());
    finish(isGood ? 200 : 400, isGood ? "ok" : "", "text/html");
  }

  async handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    // Nobody else listens while the application decides.
    socket.on("error", () => {});
    const asked = this.#prepare(request);
    const response = new EngineResponse();
    const decision = await this.#decide(asked, response);
    if (decision === "answered") return void socket.destroy();
    if ("status" in decision) {
      socket.end(
        `HTTP/1.1 ${decision.status} ${http.STATUS_CODES[decision.status]}\r\nConnection: close\r\nContent-type: text/html\r\nContent-Length: ${decision.message.length}\r\n\r\n${decision.message}`,
      );
      return;
    }
    this.finish(asked, response, 101, decision.sid);
    this.#upgradeHeaders.set(request, response);
    this.#wss.handleUpgrade(request, socket, head, (ws) => this.#connect(ws, asked, decision.sid));
  }

  #connect(ws: NodeWebSocket, asked: Asked, sid: string | undefined): void {
    const handshake = { address: asked.socket.remoteAddress ?? "", query: {}, issued: Date.now() };
    let session: Session | undefined;
    if (sid === undefined) {
      const polled = this.#sessions.sessions.get(asked._query["sid"]!);
      session = polled && this.#sessions.openProbe(polled);
      if (!session) return ws.close();
      this.#webSockets.set(session, ws);
    } else
      session = this.#sessions.open(handshake, "websocket", {
        sid,
        request: asked,
        pair: (opened) => void this.#webSockets.set(opened, ws),
      });
    const own = (): Session => [...this.#webSockets].find(([, one]) => one === ws)?.[0] ?? session;
    ws.on("message", (data, isBinary) => {
      const bytes = new Uint8Array(data.buffer as ArrayBuffer, data.byteOffset, data.byteLength);
      void this.#sessions.receive(own(), isBinary ? bytes : data.toString());
    });
    ws.on("close", () => this.#sessions.lost(own(), TRANSPORT_CLOSE));
    ws.on("error", () => this.#sessions.lost(own(), TRANSPORT_ERROR));
  }

  attach(server: HttpServer, options: Options = {}): void {
    const { addTrailingSlash = true, destroyUpgrade = true, destroyUpgradeTimeout = 1000 } = options;
    const own = (options.path ?? "/engine.io").replace(/\/$/, "") + (addTrailingSlash ? "/" : "");
    const isOwn = ({ url = "" }: IncomingMessage): boolean => own === url.slice(0, own.length);
    const others = server.listeners("request") as Array<(...args: unknown[]) => void>;
    server.removeAllListeners("request");
    server.on("close", () => this.close());
    server.on("listening", () => {
      this.isClosed = false;
    });
    server.on("request", (request, response) => {
      if (isOwn(request)) return void this.handleRequest(request, response);
      for (const other of others) other.call(server, request, response);
    });
    server.on("upgrade", (request, socket, head) => {
      if (isOwn(request)) return void this.handleUpgrade(request, socket, head);
      if (destroyUpgrade)
        setTimeout(() => {
          if ((socket as Duplex & { bytesWritten: number }).bytesWritten <= 0) socket.end();
        }, destroyUpgradeTimeout);
    });
  }
}

function refuse(response: ServerResponse, { status, code, message }: Refusal): void {
  response.writeHead(status, { "Content-Type": "application/json" });
  response.end(JSON.stringify({ code, message }));
}

export { EngineSocket as Socket };
export const protocol = 4;

export function attach(server: HttpServer, options?: Options): Server {
  const engine = new Server(options);
  engine.attach(server, options);
  return engine;
}

export function listen(port: number, options: Options | (() => void), done?: () => void): Server {
  if (typeof options === "function") return listen(port, {}, options);
  const server = http.createServer((_request, response) => {
    response.writeHead(501);
    response.end("Not Implemented");
  });
  const engine = attach(server, options);
  (engine as Server & { httpServer?: HttpServer }).httpServer = server;
  server.listen(port, done);
  return engine;
}
