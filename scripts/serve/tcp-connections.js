// The host of the TCP connections under WebSockets (src/rpc/tcp-connections.ts). entry.js registers one for each upgrade, and awaits whether it
// has to cut it. Plain JavaScript, as entry.js.
import { LooseConnections } from "./loose-connections.ts";

export class TcpConnections {
  /** The functions that resolve `isCut`, by id. */
  #deciders = new Map();
  /** By request: a header could come from the client. */
  #connections = new WeakMap();
  #loose = new LooseConnections();
  #opened = 0;

  /** @returns its id, and a promise: `true` when its WebSocket is closed, `false` when it became loose before */
  register(request, signal) {
    const id = (this.#opened++).toString(36);
    const { promise, resolve } = Promise.withResolvers();
    this.#deciders.set(id, resolve);
    this.#connections.set(request, { id, signal });
    return { id, isCut: promise };
  }

  of(request) {
    return this.#connections.get(request);
  }

  /** If its network may have one more loose connection, it becomes loose, which saves 14 KB of memory. */
  joined(id, address, max) {
    if (this.#deciders.has(id) && this.#loose.add(id, address, max)) this.#decide(id, false);
  }

  closed(id) {
    this.#decide(id, true);
  }

  gone(id) {
    this.#loose.remove(id);
  }

  #decide(id, isCut) {
    this.#deciders.get(id)?.(isCut);
    this.#deciders.delete(id);
  }
}
