// The TCP connections under WebSockets, where the server can cut them: with `npm run serve` its entry opens a line for each
// request (scripts/serve/entry.js), and a room ends it when it has closed the WebSocket. Worker and rooms share one isolate
// there. On Cloudflare there are no lines: the platform sees to its connections.

export interface Line {
  readonly id: string;
  /** Resolves when the WebSocket on it was closed. */
  readonly closed: Promise<void>;
}

/** Ends of lines that are open, by id. */
const ends = new Map<string, () => void>();
/** By the request that came over it: a header could be a client's own word. */
const ids = new WeakMap<Request, string>();
let opened = 0;

export function openLine(request: Request): Line {
  const id = (opened++).toString(36);
  const { promise, resolve } = Promise.withResolvers<void>();
  ends.set(id, resolve);
  ids.set(request, id);
  return { id, closed: promise };
}

export function lineOf(request: Request): string | undefined {
  return ids.get(request);
}

/** Its WebSocket was closed, or there is none on it. */
export function closeLine(id: string): void {
  ends.get(id)?.();
  ends.delete(id);
}
