// A Socket.IO client over a bare WebSocket, for tests that care what exactly travels. It speaks the main
// namespace only, answers pings unless told not to, and waits for frames instead of sleeping.
import { exports } from "cloudflare:workers";

export type Frame = string | ArrayBuffer;

export interface UpgradeOptions {
  /** Room in the path; without it the address of stock clients that name none. */
  readonly room?: string;
  /** Replaces or, with `undefined`, removes parameters of the request URL. */
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
  /** Who answers; a Worker with other settings than the tests' own, for example. */
  readonly fetcher?: { fetch(request: Request): Response | Promise<Response> };
}

/** What a room sends, told apart by Socket.IO's packet digit. */
interface Packet {
  readonly digit: string;
  readonly id: number | undefined;
  readonly data: unknown;
}

export const ORIGIN = "http://parley.test";
const WAIT_MS_MAX = 30_000;

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

export class RawClient {
  readonly frames: Frame[] = [];
  closed: { readonly code: number; readonly reason: string } | undefined;
  readonly #ws: WebSocket;
  readonly #answersPings: boolean;
  readonly #isExtended: boolean;
  readonly #watchers = new Set<() => void>();
  readonly #packets: Packet[] = [];
  #framesRead = 0;
  #nextAckId = 0;

  /** @throws Error when the upgrade is refused */
  static async open(options: RawClientOptions = {}): Promise<RawClient> {
    const response = await upgrade(options);
    if (!response.webSocket) throw new Error(`refused: ${response.status} ${await response.text()}`);
    const client = new RawClient(response.webSocket, options);
    await client.until("the handshake", () => client.frames[0]);
    return client;
  }

  private constructor(ws: WebSocket, { answersPings = true, query }: RawClientOptions) {
    this.#ws = ws;
    this.#answersPings = answersPings;
    this.#isExtended = query?.["ext"] === "1";
    ws.addEventListener("message", ({ data }) => this.#onFrame(data as Frame));
    ws.addEventListener("close", ({ code, reason }) => this.#onClose(code, reason));
    ws.accept();
  }

  /** The parsed `open` packet. */
  get handshake(): { sid: string; upgrades: string[]; pingInterval: number; pingTimeout: number; maxPayload: number } {
    return JSON.parse((this.frames[0] as string).slice(1));
  }

  get pings(): number {
    return this.frames.filter((frame) => frame === "2").length;
  }

  send(...frames: Frame[]): void {
    for (const frame of frames) this.#ws.send(frame);
  }

  close(code = 1000, reason = ""): void {
    this.#ws.close(code, reason);
  }

  /** Sends CONNECT and waits for the verdict. @returns the socket's id; @throws the CONNECT_ERROR's payload */
  async connect(auth?: object): Promise<string> {
    this.send(auth === undefined ? "40" : `40${JSON.stringify(auth)}`);
    const verdict = await this.until("the answer to CONNECT", () =>
      this.packets().find(({ digit }) => digit === "0" || digit === "4"),
    );
    // oxlint-disable-next-line typescript/only-throw-error -- what a test compares is the payload itself
    if (verdict.digit === "4") throw verdict.data;
    return (verdict.data as { sid: string }).sid;
  }

  /** Emits with an ack callback. @returns the answer */
  async ask<Answer = Record<string, unknown>>(event: string, payload: unknown): Promise<Answer> {
    const id = this.#nextAckId++;
    this.send(`42${id}${JSON.stringify([event, payload])}`);
    const ack = await this.until(`the answer to ${event}`, () =>
      this.packets().find((packet) => packet.digit === "3" && packet.id === id),
    );
    return (ack.data as Answer[])[0]!;
  }

  /** Emits without an ack callback. */
  say(event: string, payload: unknown): void {
    this.send(`42${JSON.stringify([event, payload])}`);
  }

  /** First arguments of all events of that name so far. */
  received<Payload = Record<string, unknown>>(event: string): Payload[] {
    return this.packets()
      .filter(({ digit, data }) => digit === "2" && (data as unknown[])[0] === event)
      .map(({ data }) => (data as unknown[])[1] as Payload);
  }

  /** Waits until `count` events of that name have come in all. */
  receives<Payload = Record<string, unknown>>(event: string, count = 1): Promise<Payload[]> {
    return this.until(`${count} of ${event}`, () => {
      const received = this.received<Payload>(event);
      return received.length >= count ? received : undefined;
    });
  }

  packets(): Packet[] {
    // Each frame is read once: in a burst every answer that is waited for looks at all of them.
    if (this.frames.length < this.#framesRead) this.#framesRead = this.#packets.length = 0;
    for (const frame of this.frames.slice(this.#framesRead)) {
      for (const text of this.#textsOf(frame)) this.#packets.push(...packetsOf(text));
    }
    this.#framesRead = this.frames.length;
    return [...this.#packets];
  }

  /** Packets of text; several of them may share a frame where the client has said so (EXT-2). */
  #textsOf(frame: Frame): string[] {
    if (typeof frame !== "string") return [];
    return this.#isExtended ? frame.split("\x1e") : [frame];
  }

  closes(): Promise<{ readonly code: number; readonly reason: string }> {
    return this.until("the closing", () => this.closed);
  }

  /** Waits until `find` finds something, looking again at each frame and closing. */
  until<Found>(what: string, find: () => Found | undefined): Promise<Found> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const found = find();
        if (found !== undefined) settle(() => resolve(found));
        else if (this.closed) settle(() => reject(new Error(`closed (${this.closed?.code}) before ${what}`)));
      };
      const settle = (end: () => void): void => {
        clearTimeout(timer);
        this.#watchers.delete(look);
        end();
      };
      const late = (): void => settle(() => reject(new Error(`no ${what} in ${WAIT_MS_MAX} ms: ${this.#tail()}`)));
      const timer = setTimeout(late, WAIT_MS_MAX);
      this.#watchers.add(look);
      look();
    });
  }

  #tail(): string {
    return JSON.stringify(this.frames.slice(-5));
  }

  #onFrame(frame: Frame): void {
    this.frames.push(frame);
    // EIO-10: a ping may ask for something to be sent back.
    if (typeof frame === "string" && frame.startsWith("2") && this.#answersPings) this.#ws.send(`3${frame.slice(1)}`);
    this.#notify();
  }

  #onClose(code: number, reason: string): void {
    this.closed ??= { code, reason };
    this.#notify();
  }

  #notify(): void {
    for (const look of this.#watchers) look();
  }
}

function packetsOf(text: string): Packet[] {
  const [, digit, id, json] = /^4([0-4])(?!\/)(\d*)(.*)$/s.exec(text) ?? [];
  if (digit === undefined) return [];
  return [{ digit, id: id ? Number(id) : undefined, data: json ? JSON.parse(json) : undefined }];
}
