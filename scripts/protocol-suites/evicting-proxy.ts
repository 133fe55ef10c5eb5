// A WebSocket proxy between a suite and its server. It hands on one frame of a client at a time, waits for
// the server to answer, and has it put to sleep before the next one.
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import path from "node:path";
import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";

/** After so long without a frame the server has sent all its answers. */
const QUIET_MS = 15;

/** The part used of the package `ws`, which comes with the suites. Source: https://github.com/websockets/ws */
interface WsSocket {
  readonly OPEN: number;
  readonly readyState: number;
  on(event: "open" | "error", listener: () => void): void;
  on(event: "message", listener: (data: Buffer, isBinary: boolean) => void): void;
  on(event: "close", listener: (code: number, reason: Buffer) => void): void;
  send(data: Buffer, options: { binary: boolean }): void;
  close(code?: number, reason?: Buffer): void;
  terminate(): void;
}

interface WsPackage {
  readonly WebSocket: new (url: URL, options: { closeTimeout: number }) => WsSocket;
  readonly WebSocketServer: new (options: { noServer: true }) => {
    handleUpgrade(request: IncomingMessage, stream: Duplex, head: Buffer, done: (ws: WsSocket) => void): void;
  };
}

export class EvictingProxy {
  evictions = 0;
  readonly url: URL;
  readonly #http: Server;
  readonly #target: URL;
  readonly #evict: () => Promise<void>;
  /** The work of all connections, one piece after the other: they share the object that is put to sleep. */
  #work: Promise<void> = Promise.resolve();

  /** @param suiteDirectory where `ws` is installed */
  static async start(target: URL, suiteDirectory: string, evict: () => Promise<void>): Promise<EvictingProxy> {
    const http = createServer((_request, response) => response.writeHead(501).end("WebSockets only"));
    http.listen(0, "127.0.0.1");
    await once(http, "listening");
    const ws = createRequire(path.join(suiteDirectory, "package.json"))("ws") as WsPackage;
    return new EvictingProxy(http, target, ws, evict);
  }

  private constructor(http: Server, target: URL, ws: WsPackage, evict: () => Promise<void>) {
    this.url = new URL(`http://127.0.0.1:${(http.address() as AddressInfo).port}`);
    this.#http = http;
    this.#target = target;
    this.#evict = evict;
    const acceptor = new ws.WebSocketServer({ noServer: true });
    http.on("upgrade", (request, stream, head) => {
      const server = new ws.WebSocket(this.#addressFor(request), { closeTimeout: QUIET_MS });
      server.on("error", () => stream.destroy());
      const held = holdMessages(server);
      server.on("open", () =>
        acceptor.handleUpgrade(request, stream, head, (client) => this.#join(client, server, held)),
      );
    });
  }

  close(): void {
    this.#http.close();
    this.#http.closeAllConnections();
  }

  #addressFor(request: IncomingMessage): URL {
    const address = new URL(request.url ?? "/", this.#target);
    address.protocol = "ws:";
    return address;
  }

  #join(client: WsSocket, server: WsSocket, held: HeldMessages): void {
    let heardAtMs = Date.now();
    held.release((data, binary) => {
      heardAtMs = Date.now();
      if (client.readyState === client.OPEN) client.send(data, { binary });
    });
    const handOn = async (data: Buffer, binary: boolean): Promise<void> => {
      if (server.readyState !== server.OPEN) return;
      server.send(data, { binary });
      heardAtMs = Date.now();
      while (Date.now() - heardAtMs < QUIET_MS) await sleep(QUIET_MS - (Date.now() - heardAtMs));
      this.evictions++;
      await this.#evict();
    };
    client.on("message", (data, binary) => {
      this.#work = this.#work.then(() => handOn(data, binary));
    });
    client.on("close", (code, reason) => passOn(server, code, reason));
    server.on("close", (code, reason) => passOn(client, code, reason));
  }
}

interface HeldMessages {
  release(listener: (data: Buffer, binary: boolean) => void): void;
}

/** The handshake comes before the suite listens. */
function holdMessages(ws: WsSocket): HeldMessages {
  const held: Array<readonly [Buffer, boolean]> = [];
  let listener: ((data: Buffer, binary: boolean) => void) | undefined;
  ws.on("message", (data, binary) => {
    if (listener) listener(data, binary);
    else held.push([data, binary]);
  });
  return {
    release(to) {
      listener = to;
      for (const message of held) to(...message);
    },
  };
}

/** Closes the other side with the same code. 1005 and 1006 cannot be sent: they mean that no code, or no close frame, arrived. */
function passOn(ws: WsSocket, code: number, reason: Buffer): void {
  if (code === 1006) ws.terminate();
  else if (code === 1005) ws.close();
  else ws.close(code, reason);
}
