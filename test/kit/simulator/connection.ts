// The line of one WebSocket between a client and an object: it keeps the order of frames, is slow, and breaks with or without notice.
// network.ts ties it to its client, object-context.ts to its object.
import type { Chance } from "./chance.ts";
import type { ClientWebSocket } from "./client-web-socket.ts";
import type { ObjectHost } from "./object-host.ts";
import { ServerSocket } from "./server-socket.ts";
import type { World, Zone } from "./world.ts";

/** One client's way into the network. */
export interface Link {
  readonly client: string;
  /** The IP address that the Worker sees. */
  readonly address: string;
  readonly chance: Chance;
  minMs: number;
  maxMs: number;
  isOffline: boolean;
  /** Of requests or their answers, how many get lost. */
  lossProbability: number;
}

export const delayOf = ({ chance, minMs, maxMs }: Link): number => chance.between(minMs, maxMs);

/** The client's end of a connection. */
interface ClientEnd {
  readonly link: Link;
  readonly zone: Zone;
  readonly socket: ClientWebSocket;
  readonly url: URL;
}

const RESET = { code: 1006, reason: "" };

export class Connection {
  readonly world: World;
  readonly server = new ServerSocket(this);
  /** Since it was accepted. */
  host: ObjectHost | undefined;
  /** Both ends believe it to stand, and nothing gets through. */
  isDead = false;
  /** The server has closed it. */
  isClosing = false;
  isOver = false;
  respondedAtMs: number | undefined;
  #end: ClientEnd | undefined;
  #toClientMs = 0;
  #toServerMs = 0;
  #isOpen = false;
  /** Waits for the client's end, or for the client to know that the connection is open. */
  #early: Array<() => void> = [];
  readonly #beforeOpen: Array<string | Uint8Array> = [];

  constructor(world: World) {
    this.world = world;
  }

  /** The object, as long as something can be sent. */
  get openHost(): ObjectHost | undefined {
    return this.isOver ? undefined : this.host;
  }

  /** @throws Error before the connection is open */
  get link(): Link {
    return this.#clientEnd.link;
  }

  /** The address that the client asked for. @throws Error before the connection is open */
  get url(): URL {
    return this.#clientEnd.url;
  }

  get #clientEnd(): ClientEnd {
    if (!this.#end) throw new Error("the connection has no client yet");
    return this.#end;
  }

  /** The request was answered with this connection. */
  open(end: ClientEnd): void {
    this.#end = end;
    this.#down(() => {
      this.#isOpen = true;
      end.socket.opened(this);
      for (const frame of this.#beforeOpen.splice(0)) end.socket.heard(frame);
    });
    for (const run of this.#early.splice(0)) run();
  }

  /** Runs it at once, or when the client's end is there. */
  onceTied(run: () => void): void {
    if (this.#end) run();
    else this.#early.push(run);
  }

  /** Travels down the line after all earlier frames. */
  #down(run: () => void): void {
    const { link, zone } = this.#clientEnd;
    this.#toClientMs = Math.max(this.#toClientMs, this.world.nowMs + delayOf(link));
    this.world.at(this.#toClientMs, zone, () => {
      if (!this.isDead) run();
    });
  }

  #up(run: () => void): void {
    this.#toServerMs = Math.max(this.#toServerMs, this.world.nowMs + delayOf(this.link));
    this.world.at(this.#toServerMs, this.world.nowhere, () => {
      if (!this.isDead) run();
    });
  }

  toClient(frame: string | Uint8Array): void {
    this.onceTied(() =>
      this.#down(() => {
        if (this.#isOpen) this.#clientEnd.socket.heard(frame);
        else this.#beforeOpen.push(frame);
      }),
    );
  }

  toServer(frame: string | Uint8Array): void {
    this.#up(() => {
      const { openHost: host, server } = this;
      if (!host) return;
      const { autoResponse } = host;
      if (autoResponse && frame === autoResponse.request) {
        this.respondedAtMs = this.world.nowMs + host.skewMs;
        return this.toClient(autoResponse.response);
      }
      host.deliver((instance) => {
        const isOpen = host.sockets.has(server) && !this.isClosing;
        const data = typeof frame === "string" ? frame : frame.slice().buffer;
        return isOpen ? instance["webSocketMessage"]!(server, data) : undefined;
      });
    });
  }

  closeFromServer(code: number, reason: string): void {
    if (this.isDead) {
      this.isOver = true;
      this.host?.sockets.delete(this.server);
      return;
    }
    this.onceTied(() =>
      this.#down(() => {
        this.#clientEnd.socket.closed(code === 1005 ? 1000 : code, reason);
        this.#up(() => this.#leave(code, reason, true));
      }),
    );
  }

  closeFromClient(code: number, reason: string): void {
    this.#up(() => this.#leave(code, reason, true));
  }

  #leave(code: number, reason: string, wasClean: boolean): void {
    const { openHost: host } = this;
    host?.deliver((instance) => {
      if (!host.sockets.delete(this.server)) return;
      const result = instance["webSocketClose"]?.(this.server, code, reason, wasClean);
      this.isOver = true;
      return result;
    });
  }

  /** The line breaks. @param noticed the ends that notice at once */
  cut(noticed: { readonly client: boolean; readonly server: boolean }): void {
    if (this.isOver) return;
    if (noticed.client) this.#reset(0);
    if (noticed.server) this.#leave(RESET.code, RESET.reason, false);
    this.isDead = true;
  }

  /** The object died with its process. */
  lose(isNoticed: boolean): void {
    this.isOver = true;
    if (isNoticed && this.#end) this.#reset(delayOf(this.#end.link));
  }

  #reset(afterMs: number): void {
    this.atClient(afterMs, () => this.#clientEnd.socket.closed(RESET.code, RESET.reason));
  }

  /** Something happens at the client's end, in its time. */
  atClient(afterMs: number, run: () => void): void {
    this.world.after(afterMs, this.#clientEnd.zone, run);
  }
}
