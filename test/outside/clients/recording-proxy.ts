// Passes every byte between a client and the server on, and keeps them: the real requests and answers, which the client's
// library may hide. Turns compression of poll answers off.
import { createConnection, createServer, type AddressInfo, type Server, type Socket } from "node:net";

import { HOST } from "../servers.ts";

export interface RecordedRequest {
  readonly method: string;
  readonly query: URLSearchParams;
  readonly headers: Headers;
}

const REQUEST_HEAD = /(GET|POST|OPTIONS) (\S+) HTTP\/1\.1\r\n((?:[^\r\n]+\r\n)+)\r\n/g;
/** Its name is spoiled on the way, at the same length: the server does not know it then. */
const ACCEPT_ENCODING = /^Accept-Encoding:/gim;
/** A whole, unmasked WebSocket frame with the text `2`: Engine.IO's ping. */
const PING_FRAME = "\x81\x012";

export class RecordingProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  // latin1 keeps bytes as they are: WebSocket frames and JSON in one string.
  readonly #fromClient: string[] = [];
  readonly #fromServer: string[] = [];

  private constructor(serverPort: number) {
    this.#server = createServer((client) => {
      const upstream = createConnection({ port: serverPort, host: HOST });
      this.#connect(client, upstream, this.#fromClient);
      this.#connect(upstream, client, this.#fromServer);
    });
  }

  static async to(serverPort: number): Promise<RecordingProxy> {
    const proxy = new RecordingProxy(serverPort);
    await new Promise<void>((resolve) => proxy.#server.listen(0, HOST, resolve));
    return proxy;
  }

  get url(): string {
    return `http://${HOST}:${(this.#server.address() as AddressInfo).port}`;
  }

  /** In the order of their connections. */
  get requests(): RecordedRequest[] {
    return this.#fromClient.flatMap((bytes) =>
      [...bytes.matchAll(REQUEST_HEAD)].map(([, method, target, lines]) => ({
        method: method!,
        query: new URL(target!, this.url).searchParams,
        headers: new Headers(lines!.trimEnd().split("\r\n").map(headerOf)),
      })),
    );
  }

  get fromServer(): string {
    return this.#fromServer.join("\n");
  }

  get pingFrames(): number {
    return this.fromServer.split(PING_FRAME).length - 1;
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #connect(from: Socket, to: Socket, record: string[]): void {
    this.#sockets.add(from);
    const place = record.push("") - 1;
    from.on("data", (chunk) => {
      const bytes = chunk.toString("latin1").replaceAll(ACCEPT_ENCODING, "X-ccept-Encoding:");
      record[place] += bytes;
      to.write(bytes, "latin1");
    });
    from.once("end", () => to.end());
    // A client that is gone is no business of the proxy.
    from.once("error", () => to.destroy());
    from.once("close", () => this.#sockets.delete(from));
  }
}

function headerOf(line: string): [name: string, value: string] {
  const colon = line.indexOf(":");
  return [line.slice(0, colon), line.slice(colon + 1).trim()];
}
