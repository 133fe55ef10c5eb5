// The TCP connections under WebSockets, if the server itself holds them (LIM-6): with `npm run serve`, whose entry (scripts/serve/entry.js)
// gives a host of them that Worker and rooms call. They share one isolate there. On Cloudflare there is none, because the platform closes its
// connections itself.

export interface TcpConnection {
  readonly id: string;
  /** Aborting it ends the connection. */
  readonly signal: AbortSignal;
}

export interface TcpHost {
  of(request: Request): TcpConnection | undefined;
  /**
   * Called, perhaps more than once, when the session of the WebSocket on it has joined, with the client's address.
   * @param max connections of one network that the host need not cut; 0 is no limit
   */
  joined(id: string, address: string, max: number): void;
  /** Called when the WebSocket on it was closed, or there is none. */
  closed(id: string): void;
  /** Called when the connection is gone. */
  gone(id: string): void;
}

let host: TcpHost | undefined;

export function setTcpHost(given: TcpHost): void {
  host = given;
}

export function tcpHost(): TcpHost | undefined {
  return host;
}
