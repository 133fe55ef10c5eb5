// Limits the sessions of each address in one object, and of all addresses together (LIM-1). A WebSocket that was closed because its client
// does not read counts until it is gone, because its buffer takes memory. Called by engine.ts and session-server.ts.
import { boundsOf } from "../wire/client-address.ts";
import type { Session } from "./session.ts";

/** Sessions of one object, over WebSocket and long-polling: as many as the platform allows WebSockets. */
export const SESSIONS_MAX = 32_768;

/** The limit that is reached: that of an address, of the object, or of an address for unjoined sessions. */
export type AddressRefusal = "address" | "object" | "unjoined";

export class Addresses {
  readonly #sessions = new Set<Session>();
  /** Sessions by the name of their network, and of its site. */
  readonly #counts = new Map<string, number>();

  add(session: Session): void {
    if (this.#sessions.has(session)) return;
    this.#sessions.add(session);
    for (const { name } of boundsOf(session.handshake.address)) this.#counts.set(name, this.#countOf(name) + 1);
  }

  remove(session: Session): void {
    if (!this.#sessions.delete(session)) return;
    for (const { name } of boundsOf(session.handshake.address)) {
      const count = this.#countOf(name) - 1;
      if (count > 0) this.#counts.set(name, count);
      else this.#counts.delete(name);
    }
  }

  /** @param max sessions of one address; 0 is no limit. @returns the limit that one more session would exceed, if any */
  refuse(address: string, max: number): AddressRefusal | undefined {
    if (this.#sessions.size >= SESSIONS_MAX) return "object";
    if (max === 0) return undefined;
    return boundsOf(address).some(({ name, times }) => this.#countOf(name) >= times * max) ? "address" : undefined;
  }

  #countOf(name: string): number {
    return this.#counts.get(name) ?? 0;
  }
}
