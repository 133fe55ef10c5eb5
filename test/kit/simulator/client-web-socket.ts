// A client's WebSocket, with the surface of the `ws` package: in its place for socket.io-client. Dials into the network that is plugged in.
import type { Connection } from "./connection.ts";
import type { Network } from "./network.ts";

let network: Network | undefined;

/** The network that clients dial into from now on. */
export function plugIn(plugged: Network): void {
  network = plugged;
}

/** Takes the place of `fetch`. */
export const fetchOver = ((address: string | URL | Request, init?: RequestInit) => {
  if (!network) throw new Error("no simulated network is plugged in");
  return network.fetch(new Request(address, init));
}) as typeof globalThis.fetch;

/** A client needs so long to see that a connection which it closes is closed. */
const CLOSING_MS = 50;

export class ClientWebSocket {
  binaryType = "nodebuffer";
  readyState = 0;
  onopen: (() => void) | undefined;
  onclose: ((event: { code: number; reason: string }) => void) | undefined;
  onmessage: ((event: { data: unknown }) => void) | undefined;
  onerror: ((error: Error) => void) | undefined;
  /** Set by the network: called if the client loses interest before the connection is open. */
  abandon: () => void = () => {};
  #connection: Connection | undefined;

  constructor(uri: string) {
    if (!network) throw new Error("no simulated network is plugged in");
    network.dial(this, uri);
  }

  opened(connection: Connection): void {
    // The client has lost interest meanwhile.
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
    this.readyState = 2;
    if (!this.#connection) return this.abandon();
    this.#connection.closeFromClient(code, reason);
    this.#connection.atClient(CLOSING_MS, () => this.closed(code, reason));
  }
}
