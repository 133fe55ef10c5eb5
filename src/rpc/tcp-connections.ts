// The TCP connections under WebSockets, if the server itself holds them (LIM-6): with `npm run serve` its entry (scripts/serve/entry.js)
// registers one for each request, and a room has it cut after it closed the WebSocket, or lets it go. Worker and rooms share one isolate there.
// On Cloudflare none is registered, because the platform closes its connections itself.

export interface TcpConnection {
  readonly id: string;
  /** Aborting it ends the connection. */
  readonly signal: AbortSignal;
}

/** The functions that resolve `isCut`, by id. */
const deciders = new Map<string, (isCut: boolean) => void>();
/** By request: a header could come from the client. */
const connections = new WeakMap<Request, TcpConnection>();
let opened = 0;

/** @returns its id, and a promise that resolves to `true` when its WebSocket is closed, and to `false` when the room lets it go before */
export function registerTcp(request: Request, signal: AbortSignal): { id: string; isCut: Promise<boolean> } {
  const id = (opened++).toString(36);
  const { promise, resolve } = Promise.withResolvers<boolean>();
  deciders.set(id, resolve);
  connections.set(request, { id, signal });
  return { id, isCut: promise };
}

export function tcpOf(request: Request): TcpConnection | undefined {
  return connections.get(request);
}

/** Called when the WebSocket on it was closed, or there is none. */
export function closeTcp(id: string): void {
  decide(id, true);
}

/** Called when the server may forget how to cut it, which saves memory. */
export function letGoTcp(id: string): void {
  decide(id, false);
}

function decide(id: string, isCut: boolean): void {
  deciders.get(id)?.(isCut);
  deciders.delete(id);
}
