// The way between clients and the Worker: connections, which keep the order of their frames (connection.ts), and HTTP requests, which do
// not. It is slow, breaks with or without notice, and leads nowhere while a client is offline.
import type { ClientWebSocket } from "./client-web-socket.ts";
import { delayOf, type Connection, type Link } from "./connection.ts";
import { webSocketOf } from "./http.ts";
import type { ObjectHost } from "./object-host.ts";
import type { World, Zone } from "./world.ts";

/** After this a request that leads nowhere fails. */
const REQUEST_TIMEOUT_MS = 40_000;
/** After this a client that is offline knows that it cannot connect. */
const OFFLINE_MS = 200;
/** After this a client that went offline on the way does. */
const LOST_MS = 2000;

/** Answers the requests of all clients: the Worker. Rejects where the platform would answer with an error. */
export type Door = (request: Request) => Promise<Response>;

/** A client with the zone that it lives in. */
interface Client {
  readonly link: Link;
  readonly zone: Zone;
}

export class Network {
  readonly world: World;
  readonly connections = new Set<Connection>();
  /** WebSockets that were asked for. */
  dialled = 0;
  /** Called with each answer to a poll, also with those that get lost. */
  onPolled: (link: Link, url: URL, content: string) => void = () => {};
  /** Takes the requests of objects and of the Worker. */
  internet: Door = async (request) => {
    throw new Error(`a simulation has no internet: ${request.method} ${request.url}`);
  };
  readonly #door: Door;
  readonly #worker: Zone;
  readonly #links = new Map<Zone, Link>();

  constructor(world: World, door: Door) {
    this.world = world;
    this.#door = door;
    this.#worker = world.makeZone("worker");
  }

  /** Everything in this zone uses this link. */
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

  // ---- WebSockets ------------------------------------------------------------------------------------------

  dial(socket: ClientWebSocket, address: string): void {
    this.dialled++;
    const zone = this.world.zone;
    const link = this.#links.get(zone);
    if (!link) throw new Error("only clients of a simulation open WebSockets");
    const fail = (): void => socket.failed();
    if (link.isOffline) return void this.world.after(OFFLINE_MS, zone, fail);
    const url = new URL(address.replace(/^ws/, "http"));
    let opened: Connection | undefined;
    let isAbandoned = false;
    socket.abandon = () => {
      isAbandoned = true;
      opened?.cut({ client: false, server: true });
    };
    const open = (connection: Connection | undefined): void => {
      if (!connection || connection.isOver) return void this.world.after(link.maxMs, zone, fail);
      opened = connection;
      connection.open({ link, zone, socket, url });
      this.connections.add(connection);
      if (isAbandoned) connection.cut({ client: false, server: true });
    };
    this.world.after(delayOf(link), this.#worker, (): void => {
      if (link.isOffline) return void this.world.after(LOST_MS, zone, fail);
      this.#door(this.#request({ link, zone }, url, { headers: { Upgrade: "websocket", Connection: "Upgrade" } })).then(
        (response) => open(webSocketOf(response)?.connection),
        () => open(undefined),
      );
    });
  }

  /** @param init of the request that the client has made */
  #request({ link }: Client, url: URL | string, init: RequestInit): Request {
    const request = new Request(url, init);
    // The platform says where a request came from.
    request.headers.set("CF-Connecting-IP", link.address);
    return request;
  }

  // ---- requests --------------------------------------------------------------------------------------------

  fetch(request: Request): Promise<Response> {
    const zone = this.world.zone;
    const link = this.#links.get(zone);
    if (!link) return this.internet(request);
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    let isDone = false;
    const end = (delayMs: number, settle: () => void): void => {
      this.world.after(delayMs, zone, () => {
        if (!isDone) settle();
        isDone = true;
      });
    };
    const fail = (): void => reject(new TypeError("fetch failed"));
    const isLost = (): boolean => link.isOffline || link.chance.happens(link.lossProbability);
    end(REQUEST_TIMEOUT_MS, fail);
    if (isLost()) {
      end(delayOf(link) + OFFLINE_MS, fail);
      return promise;
    }
    const answer = async (): Promise<void> => {
      const response = await this.#door(this.#request({ link, zone }, request.url, request));
      if (request.method === "GET") this.onPolled(link, new URL(request.url), await response.clone().text());
      if (isLost()) end(delayOf(link), fail);
      else end(delayOf(link), () => resolve(response));
    };
    this.world.after(delayOf(link), this.#worker, () => {
      answer().catch(() => end(delayOf(link), fail));
    });
    return promise;
  }
}
