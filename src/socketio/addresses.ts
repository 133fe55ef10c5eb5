// Connections of one address to one object, and of all to it (LIM-1). A WebSocket that was closed because it is not read
// counts until it is gone: what was kept for it is still there.
import { networkOf } from "../protocol/client-address.ts";
import type { Session } from "./session.ts";

/** Sessions of one object: as many as the platform gives it WebSockets. Those on long-polling count among them. */
export const SESSIONS_MAX = 32_768;

export type AddressRefusal = "address" | "object";

export class Addresses {
  readonly #sessions = new Map<string, Set<Session>>();
  #count = 0;

  add(session: Session): void {
    const network = networkOf(session.handshake.address);
    const others = this.#sessions.get(network) ?? new Set();
    this.#sessions.set(network, others);
    this.#count += others.has(session) ? 0 : 1;
    others.add(session);
  }

  remove(session: Session): void {
    const network = networkOf(session.handshake.address);
    const sessions = this.#sessions.get(network);
    if (!sessions?.delete(session)) return;
    this.#count--;
    if (sessions.size === 0) this.#sessions.delete(network);
  }

  /** @param max sessions of one address; 0 is no limit. @returns what is full, if one more may not come */
  refuse(address: string, max: number): AddressRefusal | undefined {
    if (this.#count >= SESSIONS_MAX) return "object";
    return max > 0 && (this.#sessions.get(networkOf(address))?.size ?? 0) >= max ? "address" : undefined;
  }
}
