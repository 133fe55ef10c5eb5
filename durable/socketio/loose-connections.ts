// Counts the loose TCP connections: those that the server does not cut after the close of their WebSockets (LIM-6). By network, over all
// objects of an isolate. Called by web-sockets.ts.
import { boundsOf } from "../../src/socketio/wire/client-address.ts";

export class LooseConnections {
  readonly #networks = new Map<string, string>();
  readonly #counts = new Map<string, number>();

  /** @param max connections of one network; 0 is no limit. @returns whether it counts now; otherwise the network has as many already */
  add(id: string, address: string, max: number): boolean {
    // The widest network that has a limit.
    const network = boundsOf(address).at(-1)!.name;
    const count = this.#counts.get(network) ?? 0;
    if (max > 0 && count >= max) return false;
    this.#networks.set(id, network);
    this.#counts.set(network, count + 1);
    return true;
  }

  /** Called when the connection is gone. If its object was reset, nobody calls this: it counts until the server ends. */
  remove(id: string): void {
    const network = this.#networks.get(id);
    if (network === undefined) return;
    this.#networks.delete(id);
    const count = this.#counts.get(network)! - 1;
    if (count > 0) this.#counts.set(network, count);
    else this.#counts.delete(network);
  }
}
