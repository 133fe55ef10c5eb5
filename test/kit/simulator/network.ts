// The lines between clients and rooms: WebSockets, which keep the order of their frames, and HTTP requests, which do not. Lines
// are slow, break with or without a word, and lead nowhere while a client is offline.
import { encodeUpgradeFacts, INNER_ORIGIN, UPGRADE_HEADER } from "../../../src/rpc/upgrade-header.ts";
import type { Chance } from "./chance.ts";
import { ServerSocket, type ObjectHost } from "./object-host.ts";
import type { World, Zone } from "./world.ts";

/** After this a request that leads nowhere fails. */
const REQUEST_TIMEOUT_MS = 20_000;

/** One client's way into the network. */
export interface Link {
  readonly client: string;
  readonly chance: Chance;
  minMs: number;
  maxMs: number;
  isOffline: boolean;
  /** Of requests or their answers, how many get lost. */
  lossProbability: number;
}

const RESET = { code: 1006, reason: "" };

export class Connection {
  readonly host: ObjectHost;
  readonly link: Link;
  readonly world: World;
  readonly clientZone: Zone;
  readonly query: Readonly<Record<string, string>>;
  readonly server: ServerSocket;
  client: ClientWebSocket | undefined;
  /** Both ends believe it to stand, and nothing gets through. */
  isDead = false;
  /** The server has closed it. */
  isClosing = false;
  isOver = false;
  respondedAtMs: number | undefined;
  #toClientMs = 0;
  #toServerMs = 0;
  readonly #beforeOpen: Array<string | Uint8Array> = [];

  constructor(parts: { host: ObjectHost; link: Link; clientZone: Zone; query: Readonly<Record<string, string>> }) {
    this.host = parts.host;
    this.link = parts.link;
    this.world = parts.host.world;
    this.clientZone = parts.clientZone;
    this.query = parts.query;
    this.server = new ServerSocket(this, () => (this.isOver ? undefined : this.host));
  }

  #delayMs(): number {
    return this.link.chance.between(this.link.minMs, this.link.maxMs);
  }

  /** Travels down the line after all earlier frames. */
  #down(run: () => void): void {
    this.#toClientMs = Math.max(this.#toClientMs, this.world.nowMs + this.#delayMs());
    this.world.at(this.#toClientMs, this.clientZone, () => {
      if (!this.isDead) run();
    });
  }

  #up(run: () => void): void {
    this.#toServerMs = Math.max(this.#toServerMs, this.world.nowMs + this.#delayMs());
    this.world.at(this.#toServerMs, this.world.nowhere, () => {
      if (!this.isDead) run();
    });
  }

  opened(client: ClientWebSocket): void {
    this.#down(() => {
      this.client = client;
      client.opened(this);
      for (const frame of this.#beforeOpen.splice(0)) client.heard(frame);
    });
  }

  toClient(frame: string | Uint8Array): void {
    this.#down(() => {
      if (this.client) this.client.heard(frame);
      else this.#beforeOpen.push(frame);
    });
  }

  toServer(frame: string | Uint8Array): void {
    this.#up(() => {
      if (this.isOver) return;
      const { autoResponse } = this.host;
      if (autoResponse && frame === autoResponse.request) {
        this.respondedAtMs = this.world.nowMs + this.host.skewMs;
        return this.toClient(autoResponse.response);
      }
      this.host.deliver((instance) => {
        const isOpen = this.host.sockets.has(this.server) && !this.isClosing;
        const data = typeof frame === "string" ? frame : frame.slice().buffer;
        return isOpen ? instance["webSocketMessage"]!(this.server, data) : undefined;
      });
    });
  }

  closeFromServer(code: number, reason: string): void {
    if (this.isDead) {
      this.isOver = true;
      this.host.sockets.delete(this.server);
      return;
    }
    this.#down(() => {
      this.client?.closed(code === 1005 ? 1000 : code, reason);
      this.#up(() => this.#leave(code, reason, true));
    });
  }

  closeFromClient(code: number, reason: string): void {
    this.#up(() => this.#leave(code, reason, true));
  }

  #leave(code: number, reason: string, wasClean: boolean): void {
    if (this.isOver) return;
    this.host.deliver((instance) => {
      if (!this.host.sockets.delete(this.server)) return;
      const result = instance["webSocketClose"]!(this.server, code, reason, wasClean);
      this.isOver = true;
      return result;
    });
  }

  /** The line breaks. @param noticed the ends that notice at once */
  cut(noticed: { readonly client: boolean; readonly server: boolean }): void {
    if (this.isOver) return;
    const { client } = this;
    if (noticed.client)
      this.world.at(this.world.nowMs, this.clientZone, () => client?.closed(RESET.code, RESET.reason));
    if (noticed.server) this.#leave(RESET.code, RESET.reason, false);
    this.isDead = true;
  }

  /** The object died with its process. */
  lose(isNoticed: boolean): void {
    this.isOver = true;
    const { client } = this;
    if (isNoticed) this.world.after(this.#delayMs(), this.clientZone, () => client?.closed(RESET.code, RESET.reason));
  }
}

interface Opening {
  readonly status: number;
  readonly webSocket?: PairEnd;
  /** The answer to a poll or a post. */
  readonly content: string;
}

/** One end of a new WebSocket, which the object accepts and the other end of which its answer carries. */
export class PairEnd {
  connection: Connection | undefined;
}

export class Network {
  readonly world: World;
  readonly connections = new Set<Connection>();
  /** WebSockets that were asked for. */
  dialled = 0;
  /** The answer of a room to a poll. */
  onPolled: (host: ObjectHost, link: Link, content: string) => void = () => {};
  readonly #links = new Map<Zone, Link>();
  readonly #hostOf: (room: string) => ObjectHost;

  constructor(world: World, hostOf: (room: string) => ObjectHost) {
    this.world = world;
    this.#hostOf = hostOf;
  }

  link(zone: Zone, link: Link): void {
    this.#links.set(zone, link);
  }

  connectionsOf(client: string): Connection[] {
    return this.#all().filter(({ link }) => link.client === client);
  }

  connectionsTo(host: ObjectHost): Connection[] {
    return this.#all().filter((connection) => connection.host === host);
  }

  #all(): Connection[] {
    for (const connection of this.connections) if (connection.isOver) this.connections.delete(connection);
    return [...this.connections];
  }

  #place(uri: string): { host: ObjectHost; transport: string; query: Record<string, string> } {
    const { pathname, searchParams } = new URL(uri);
    const [, , room] = pathname.split("/");
    const query = Object.fromEntries(searchParams);
    return { host: this.#hostOf(room!), transport: query["transport"]!, query };
  }

  #request(transport: string, query: Record<string, string>, method: string, body?: string): unknown {
    const { sid, recovery, ext } = query;
    const facts = {
      address: "192.0.2.1",
      query: sid === undefined ? query : {},
      canRecover: recovery !== "off",
      ...(ext === "1" && transport === "websocket" && { isExtended: true as const }),
      ...(sid !== undefined && { sid }),
    };
    const headers = new Map([[UPGRADE_HEADER, encodeUpgradeFacts(facts)]]);
    return { url: `${INNER_ORIGIN}/${transport}`, method, headers, body: body === undefined ? null : streamOf(body) };
  }

  // ---- WebSockets ------------------------------------------------------------------------------------------

  dial(client: ClientWebSocket, uri: string): void {
    this.dialled++;
    const clientZone = this.world.zone;
    const link = this.#links.get(clientZone)!;
    const { host, transport, query } = this.#place(uri);
    const fail = (): void => client.failed();
    if (link.isOffline) return void this.world.after(200, clientZone, fail);
    const connection = new Connection({ host, link, clientZone, query });
    client.abandon = () => connection.cut({ client: false, server: true });
    this.world.after(link.chance.between(link.minMs, link.maxMs), this.world.nowhere, (): void => {
      if (link.isOffline) return void this.world.after(2000, clientZone, fail);
      this.connections.add(connection);
      host.call(
        (instance) => {
          pairing = connection;
          return instance["fetch"]!(this.#request(transport, query, "GET")) as Promise<Opening>;
        },
        (response) => {
          const isOpen = !(response instanceof Error) && response.status === 101;
          if (isOpen) return connection.opened(client);
          connection.isOver = true;
          this.world.after(link.maxMs, clientZone, fail);
        },
      );
    });
  }

  // ---- requests --------------------------------------------------------------------------------------------

  fetch(uri: string, { method = "GET", body }: { method?: string; body?: string | null } = {}): Promise<unknown> {
    const clientZone = this.world.zone;
    const link = this.#links.get(clientZone)!;
    const { host, transport, query } = this.#place(uri);
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    let isDone = false;
    const end = (delayMs: number, settle: () => void): void => {
      this.world.after(delayMs, clientZone, () => {
        if (!isDone) settle();
        isDone = true;
      });
    };
    const delayMs = (): number => link.chance.between(link.minMs, link.maxMs);
    const fail = (): void => reject(new TypeError("fetch failed"));
    const isLost = (): boolean => link.isOffline || link.chance.happens(link.lossProbability);
    if (isLost()) end(delayMs() + 500, fail);
    else
      this.world.after(delayMs(), this.world.nowhere, () => {
        host.call(
          (instance) =>
            instance["fetch"]!(this.#request(transport, query, method, body ?? undefined)) as Promise<Opening>,
          (response) => {
            if (!(response instanceof Error)) this.onPolled(host, link, response.content);
            if (isLost() || response instanceof Error) return end(delayMs(), fail);
            end(delayMs(), () => resolve(asFetched(response)));
          },
        );
      });
    end(REQUEST_TIMEOUT_MS * 2, fail);
    return promise;
  }
}

const asFetched = (response: Opening): unknown => ({
  ok: response.status >= 200 && response.status < 300,
  status: response.status,
  headers: { getSetCookie: () => [] },
  text: () => Promise.resolve(response.content),
});

/** Which connection the next WebSocket that an object makes belongs to: it is made while its request is dealt with. */
let pairing: Connection | undefined;

/** Replaces Node's `Response` and `WebSocketPair` for the objects. */
export function replaceResponses(): void {
  class SimulatedResponse {
    readonly status: number;
    readonly webSocket: PairEnd | undefined;
    readonly content: string;

    constructor(body: string | null, { status = 200, webSocket }: { status?: number; webSocket?: PairEnd } = {}) {
      this.content = body ?? "";
      this.status = status;
      this.webSocket = webSocket;
    }

    static json(value: unknown, init?: { status?: number }): SimulatedResponse {
      return new SimulatedResponse(JSON.stringify(value), init);
    }
  }
  function WebSocketPair(): Record<number, unknown> {
    return { 0: new PairEnd(), 1: pairing!.server };
  }
  class WebSocketRequestResponsePair {
    readonly request: string;
    readonly response: string;

    constructor(request: string, response: string) {
      this.request = request;
      this.response = response;
    }
  }
  Object.assign(globalThis, { Response: SimulatedResponse, WebSocketPair, WebSocketRequestResponsePair });
}

let network: Network | undefined;

/** The network that clients dial into from now on. */
export function plugIn(plugged: Network): void {
  network = plugged;
}

/** The body of a request as the platform hands it over. */
function streamOf(text: string): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start: (controller) => {
      controller.enqueue(Buffer.from(text));
      controller.close();
    },
  });
}

/** In place of `fetch`: the network that is plugged in. */
export const fetchOver = ((uri: string, init?: { method?: string; body?: string | null }) =>
  network!.fetch(uri, init)) as unknown as typeof globalThis.fetch;

/** A client's end of a WebSocket, with the surface of the `ws` package. */
export class ClientWebSocket {
  binaryType = "nodebuffer";
  readyState = 0;
  onopen: (() => void) | undefined;
  onclose: ((event: { code: number; reason: string }) => void) | undefined;
  onmessage: ((event: { data: unknown }) => void) | undefined;
  onerror: ((error: Error) => void) | undefined;
  /** What ends the connection if the client loses interest before it is open. */
  abandon: () => void = () => {};
  #connection: Connection | undefined;

  constructor(uri: string) {
    network!.dial(this, uri);
  }

  opened(connection: Connection): void {
    if (this.readyState !== 0) return;
    this.#connection = connection;
    this.readyState = 1;
    this.onopen?.();
  }

  heard(frame: string | Uint8Array): void {
    if (this.readyState === 1) this.onmessage?.({ data: typeof frame === "string" ? frame : Buffer.from(frame) });
  }

  closed(code: number, reason: string): void {
    if (this.readyState === 3) return;
    const wasOpening = this.readyState === 0;
    this.readyState = 3;
    if (wasOpening) this.onerror?.(new Error("the connection broke"));
    this.onclose?.({ code, reason });
  }

  failed(): void {
    this.closed(1006, "");
  }

  send(data: string | Uint8Array): void {
    if (this.readyState !== 1) throw new Error("the socket is not open");
    this.#connection!.toServer(typeof data === "string" ? data : new Uint8Array(data));
  }

  close(code = 1005, reason = ""): void {
    if (this.readyState >= 2) return;
    const wasOpen = this.readyState === 1;
    this.readyState = 2;
    if (wasOpen) this.#connection!.closeFromClient(code, reason);
    else this.abandon();
    const { zone } = { zone: this.#connection?.clientZone };
    if (zone) this.#connection!.world.after(50, zone, () => this.closed(code, reason));
  }
}
