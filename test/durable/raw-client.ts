// Opens a WebSocket to the Worker from inside workerd, and a wire client over it. Called by all tests of objects and of the Worker.
import { exports } from "cloudflare:workers";

import { WireClient, type Frame } from "../wire/wire-client.ts";

export type { Frame } from "../wire/wire-client.ts";

export interface UpgradeOptions {
  /** Room in the path; without it the address of stock clients that name none. */
  readonly room?: string;
  /** Replaces or, with `undefined`, removes parameters of the request URL. */
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
  /** The Worker that answers; one with other settings than the tests' own, for example. */
  readonly fetcher?: { fetch(request: Request): Response | Promise<Response> };
}

export const ORIGIN = "http://parley.test";

/** The request of a stock client that opens a WebSocket, and its answer. */
export async function upgrade(options: UpgradeOptions = {}): Promise<Response> {
  const { room, query = {}, headers = {}, method = "GET", fetcher = exports.default } = options;
  const path = room === undefined ? "/socket.io/" : `/rooms/${room}/socket.io/`;
  const url = new URL(path, ORIGIN);
  for (const [name, value] of Object.entries({ EIO: "4", transport: "websocket", ...query })) {
    if (value !== undefined) url.searchParams.set(name, value);
  }
  return fetcher.fetch(new Request(url, { method, headers: { Upgrade: "websocket", ...headers } }));
}

export interface RawClientOptions extends UpgradeOptions {
  readonly answersPings?: boolean;
}

export class RawClient extends WireClient {
  /** @throws Error when the upgrade is refused */
  static async open(options: RawClientOptions = {}): Promise<RawClient> {
    const response = await upgrade(options);
    if (!response.webSocket) throw new Error(`refused: ${response.status} ${await response.text()}`);
    const client = RawClient.over(response.webSocket, options);
    await client.until("the handshake", () => client.frames[0]);
    return client;
  }

  /** For a session that exists already: nothing has to come first. */
  static over(ws: WebSocket, options: RawClientOptions = {}): RawClient {
    return new RawClient(ws, options);
  }

  private constructor(ws: WebSocket, { answersPings = true, query }: RawClientOptions) {
    const transport = {
      send: (frame: Frame): void => ws.send(frame),
      close: (code: number, reason: string): void => ws.close(code, reason),
    };
    super(transport, { answersPings, isExtended: query?.["ext"] === "1" });
    ws.addEventListener("message", ({ data }) => this.receive(data as Frame));
    ws.addEventListener("close", ({ code, reason }) => this.end({ code, reason }));
    ws.accept();
  }

  /** Enters the main namespace. @returns the socket's id; @throws the CONNECT_ERROR's payload */
  async connect(auth?: object): Promise<string> {
    return (await this.enter<{ sid: string }>("/", auth)).sid;
  }

  /** From the probe to the moment when the client may complete the upgrade (EIO-9). */
  async probe(): Promise<void> {
    this.send("2probe");
    await this.until("the answer to the probe", () => this.frames.includes("3probe") || undefined);
  }
}
