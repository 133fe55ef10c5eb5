// A wire client over a bare WebSocket: to a Worker in the same runtime, by its `fetch`, or to a server elsewhere, by its URL. Exported by
// `parley-rooms/testing`; the tests of objects use it by way of test/durable/raw-client.ts.
import { WireClient, type Frame } from "./wire-client.ts";

export interface UpgradeOptions {
  /** The Worker: `exports.default` of `cloudflare:workers` in a test of the Workers plugin. Without it, `url` is dialled. */
  readonly fetcher?: { fetch(request: Request): Response | Promise<Response> };
  /** Origin, and base path if there is one. Default: `http://worker.test`. */
  readonly url?: string | URL;
  /** The room in the path; without it the address is that of clients which name none. */
  readonly room?: string;
  /** Replaces or, with `undefined`, removes parameters of the URL. */
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
}

export interface RawClientOptions extends UpgradeOptions {
  /** Default: true. */
  readonly answersPings?: boolean;
}

const ORIGIN = "http://worker.test";

/** The end of a WebSocket, as the platforms have it in common. */
type Socket = Pick<WebSocket, "send" | "close" | "addEventListener"> & {
  /** In workerd nothing arrives before it is called. */
  accept?(): void;
};

/** A response in workerd. */
interface Upgraded {
  readonly webSocket?: Socket | null;
}

function addressOf({ url = ORIGIN, room, query = {} }: UpgradeOptions): URL {
  const base = String(url).replace(/\/$/, "");
  const address = new URL(`${base}${room === undefined ? "" : `/rooms/${room}`}/socket.io/`);
  for (const [name, value] of Object.entries({ EIO: "4", transport: "websocket", ...query }))
    if (value !== undefined) address.searchParams.set(name, value);
  return address;
}

/** The request of a stock client that opens a WebSocket, and its answer. */
export async function upgrade({
  fetcher,
  ...options
}: UpgradeOptions & Required<Pick<UpgradeOptions, "fetcher">>): Promise<Response> {
  const { headers = {}, method = "GET" } = options;
  return fetcher.fetch(new Request(addressOf(options), { method, headers: { Upgrade: "websocket", ...headers } }));
}

/** Opens a session, up to and with the Engine.IO handshake. @throws Error when it is refused */
export async function openRawClient(options: RawClientOptions): Promise<RawClient> {
  const client = new RawClient(await openSocket(options), options);
  await client.until("the handshake", () => client.frames[0]);
  return client;
}

/** @throws Error when the upgrade is refused; only a Worker in the same runtime says why */
export async function openSocket({ fetcher, ...options }: UpgradeOptions): Promise<Socket> {
  if (!fetcher) return dial(addressOf(options));
  const response = await upgrade({ fetcher, ...options });
  const { webSocket } = response as Upgraded;
  if (!webSocket) throw new Error(`refused: ${response.status} ${await response.text()}`);
  return webSocket;
}

function dial(address: URL): Promise<Socket> {
  const socket = new WebSocket(String(address).replace(/^http/, "ws"));
  socket.binaryType = "arraybuffer";
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  socket.addEventListener("open", () => resolve(socket));
  socket.addEventListener("error", () => reject(new Error(`${address.origin} refused, or is not there`)));
  return promise;
}

/** @template Any of answers and payloads for which no type is named */
export class RawClient<Any = unknown> extends WireClient<Any> {
  /** @param socket open; nothing has been read from it yet */
  constructor(socket: Socket, { answersPings = true, query }: RawClientOptions = {}) {
    const transport = {
      send: (frame: Frame): void => socket.send(frame),
      close: (code: number, reason: string): void => socket.close(code, reason),
    };
    super(transport, { answersPings, isExtended: query?.["ext"] === "1" });
    socket.addEventListener("message", ({ data }) => this.receive(data as Frame));
    socket.addEventListener("close", ({ code, reason }) => this.end({ code, reason }));
    socket.accept?.();
  }

  /** Enters the main namespace. @returns the socket's id; @throws the CONNECT_ERROR's payload */
  async connect(auth?: object): Promise<string> {
    return (await this.enter<{ sid: string }>("/", auth)).sid;
  }
}
