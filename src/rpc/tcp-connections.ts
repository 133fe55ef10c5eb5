// The TCP connections under WebSockets, if the server itself holds them (LIM-6): with `npm run serve` its entry (scripts/serve/entry.js)
// registers one for each request, and a room ends it some time after it closed the WebSocket. Worker and rooms share one isolate there.
// On Cloudflare none is registered, because the platform closes its connections itself.

export interface TcpConnection {
  readonly id: string;
  /** Aborting it ends the connection. */
  readonly signal: AbortSignal;
}

/** The functions that resolve `closed`, by id. */
const closers = new Map<string, () => void>();
/** By request: a header could come from the client. */
const connections = new WeakMap<Request, TcpConnection>();
let opened = 0;

/** @returns its id, and a promise that resolves when the room has closed the WebSocket on it */
export function registerTcp(request: Request, signal: AbortSignal): { id: string; closed: Promise<void> } {
  const id = (opened++).toString(36);
  const { promise, resolve } = Promise.withResolvers<void>();
  closers.set(id, resolve);
  connections.set(request, { id, signal });
  return { id, closed: promise };
}

export function tcpOf(request: Request): TcpConnection | undefined {
  return connections.get(request);
}

/** Called when the WebSocket on it was closed, or there is none. */
export function closeTcp(id: string): void {
  closers.get(id)?.();
  closers.delete(id);
}
