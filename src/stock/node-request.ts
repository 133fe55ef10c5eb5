// A request of a client, and the answer to it, as Node has them: as far as middlewares of Engine.IO and Socket.IO look at them (express-session,
// helmet, cors). Made by the object for each request (durable/engine-object.ts); `socket.request` is the one that opened the connection.
import { EventEmitter } from "node:events";
import { URL } from "node:url";

/** What the object knows of a request. */
export interface RequestFacts {
  readonly method: string;
  /** With its origin, or from its path on. */
  readonly url: string;
  readonly headers: Iterable<readonly [name: string, value: string]>;
  /** The client's address. */
  readonly address: string;
}

interface Connection {
  readonly remoteAddress: string;
  readonly encrypted: boolean;
}

export class EngineRequest extends EventEmitter {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly httpVersion = "1.1";
  /** By their names in lower case. */
  readonly headers: Record<string, string>;
  /** Parameters of the URL. */
  readonly _query: Record<string, string>;
  readonly connection: Connection;
  readonly socket: Connection;
  /** While the request is answered. */
  res: EngineResponse | null = null;

  constructor({ method, url, headers, address }: RequestFacts) {
    super();
    const { protocol, pathname, search, searchParams } = new URL(url, "http://host");
    this.method = method;
    this.url = pathname + search;
    this.headers = Object.fromEntries(headers);
    this._query = Object.fromEntries(searchParams);
    this.connection = { remoteAddress: address, encrypted: protocol === "https:" };
    this.socket = this.connection;
  }
}

export type HeaderValue = string | number | readonly string[];
type Body = string | Uint8Array<ArrayBuffer>;

/** Collects what middlewares say about the answer. */
export class EngineResponse extends EventEmitter {
  statusCode = 200;
  statusMessage = "";
  headersSent = false;
  writableEnded = false;
  /** Names with their values, by names in lower case. */
  readonly #headers = new Map<string, [name: string, value: HeaderValue]>();
  readonly body: Body[] = [];

  get finished(): boolean {
    return this.writableEnded;
  }

  /** express-session looks whether the head is written. */
  get _header(): string | null {
    return this.headersSent ? "written" : null;
  }

  _implicitHeader(): void {
    this.writeHead(this.statusCode);
  }

  setHeader(name: string, value: HeaderValue): this {
    this.#headers.set(name.toLowerCase(), [name, value]);
    return this;
  }

  appendHeader(name: string, value: string | readonly string[]): this {
    return this.setHeader(name, [this.getHeader(name) ?? [], value].flat().map(String));
  }

  getHeader(name: string): HeaderValue | undefined {
    return this.#headers.get(name.toLowerCase())?.[1];
  }

  getHeaders(): Record<string, HeaderValue> {
    return Object.fromEntries([...this.#headers].map(([name, [, value]]) => [name, value]));
  }

  getHeaderNames(): string[] {
    return [...this.#headers.keys()];
  }

  hasHeader(name: string): boolean {
    return this.#headers.has(name.toLowerCase());
  }

  removeHeader(name: string): void {
    this.#headers.delete(name.toLowerCase());
  }

  flushHeaders(): void {
    this.writeHead(this.statusCode);
  }

  /** Middlewares replace it, to set their headers at the last moment. */
  writeHead(status: number, ...rest: ReadonlyArray<string | Readonly<Record<string, HeaderValue>> | undefined>): this {
    this.statusCode = status;
    for (const given of rest)
      if (typeof given === "object") for (const [name, value] of Object.entries(given)) this.setHeader(name, value);
    this.headersSent = true;
    return this;
  }

  write(chunk: Body): boolean {
    this.body.push(chunk);
    return true;
  }

  /** Middlewares replace it, too: express-session saves then. */
  end(chunk?: Body | (() => void)): this {
    if (this.writableEnded) return this;
    if (chunk !== undefined && typeof chunk !== "function") this.body.push(chunk);
    if (!this.headersSent) this.writeHead(this.statusCode);
    this.writableEnded = true;
    this.emit("finish");
    this.emit("close");
    return this;
  }

  /** Each header as often as it has values. */
  headerLines(): Array<[name: string, value: string]> {
    return [...this.#headers.values()].flatMap(([name, value]) =>
      [value].flat().map((one): [string, string] => [name, String(one)]),
    );
  }
}
