// The TCP connections under WebSockets, if the server itself holds them (LIM-6): with `npm run serve` its entry (scripts/serve/entry.js)
// registers one for each request, and a room ends it some time after it closed the WebSocket. Worker and rooms share one isolate there.
// On Cloudflare none is registered, because the platform closes its connections itself.

export interface TcpConnection {
  readonly id: string;
  /** Resolves when the room has closed the WebSocket on it. */
  readonly closed: Promise<void>;
}

/** The functions that resolve `closed`, by id. */
const closers = new Map<string, () => void>();
/** Ids by request: a header could come from the client. */
const ids = new WeakMap<Request, string>();
let opened = 0;

export function registerTcp(request: Request): TcpConnection {
  const id = (opened++).toString(36);
  const { promise, resolve } = Promise.withResolvers<void>();
  closers.set(id, resolve);
  ids.set(request, id);
  return { id, closed: promise };
}

export function tcpIdOf(request: Request): string | undefined {
  return ids.get(request);
}

/** Called when the WebSocket on it was closed, or there is none. */
export function closeTcp(id: string): void {
  closers.get(id)?.();
  closers.delete(id);
}
