// Rate limit per network and minute for clients that are not authenticated yet (LIM-2). Each isolate counts for itself. An address
// reaches few isolates of a location, so this slows floods down and is no exact quota. Called by engine-endpoint.ts and the guest
// route.
import { Window } from "../../clock/rates.ts";
import { boundsOf } from "../../socketio/wire/client-address.ts";

const WINDOW_MS = 60_000;

/** Networks counted at a time; a flood from more of them than that is not one address's. */
export const NETWORKS_MAX = 100_000;

export class ConnectRate {
  /** Times per address; 0 is no limit. */
  readonly perMinute: number;
  readonly #window = new Window(WINDOW_MS, NETWORKS_MAX);

  constructor(perMinute: number) {
    this.perMinute = perMinute;
  }

  /** Counts one. @returns the seconds to wait where it was one too many, otherwise 0 */
  take(address: string, nowMs: number): number {
    return this.#waitSeconds(address, nowMs, (name) => this.#window.count(name, nowMs) - 1);
  }

  /** Counts nothing. @returns the seconds to wait where the next one would be one too many, otherwise 0 */
  look(address: string, nowMs: number): number {
    return this.#waitSeconds(address, nowMs, (name) => this.#window.countOf(name, nowMs));
  }

  /** @param countBefore called for every network of the address */
  #waitSeconds(address: string, nowMs: number, countBefore: (name: string) => number): number {
    if (this.perMinute === 0) return 0;
    const full = boundsOf(address).filter(({ name, times }) => countBefore(name) >= times * this.perMinute);
    return full.length > 0 ? Math.ceil(this.#window.restMs(nowMs) / 1000) : 0;
  }
}
