// How often one address may do something before it has proved who it is: a count per network and minute, kept in the isolate
// that sees it (LIM-2). Addresses reach few isolates of a location, so this is a brake on floods and not an exact quota.
import { boundsOf } from "../../socketio/wire/client-address.ts";

const WINDOW_MS = 60_000;

/** Networks counted at a time; a flood from more of them than that is not one address's. */
export const NETWORKS_MAX = 100_000;

export class ConnectRate {
  readonly #perMinute: number;
  #counts = new Map<string, number>();
  #windowStartMs = 0;

  /** @param perMinute times per address; 0 is no limit */
  constructor(perMinute: number) {
    this.#perMinute = perMinute;
  }

  /** Counts one. @returns the seconds to wait where it was one too many, otherwise 0 */
  take(address: string, nowMs: number): number {
    if (this.#perMinute === 0) return 0;
    this.#begin(nowMs);
    let isOver = false;
    for (const { name, times } of boundsOf(address)) {
      const count = (this.#counts.get(name) ?? 0) + 1;
      if (count === 1 && this.#counts.size >= NETWORKS_MAX) this.#counts.clear();
      this.#counts.set(name, count);
      isOver ||= count > times * this.#perMinute;
    }
    return isOver ? this.#restSeconds(nowMs) : 0;
  }

  /** Counts nothing. @returns the seconds to wait where the next one would be one too many, otherwise 0 */
  look(address: string, nowMs: number): number {
    if (this.#perMinute === 0) return 0;
    this.#begin(nowMs);
    const isFull = boundsOf(address).some(
      ({ name, times }) => (this.#counts.get(name) ?? 0) >= times * this.#perMinute,
    );
    return isFull ? this.#restSeconds(nowMs) : 0;
  }

  #begin(nowMs: number): void {
    // A clock that was set back begins anew, too.
    if (Math.abs(nowMs - this.#windowStartMs) < WINDOW_MS) return;
    this.#windowStartMs = nowMs;
    this.#counts = new Map();
  }

  #restSeconds(nowMs: number): number {
    return Math.ceil((this.#windowStartMs + WINDOW_MS - nowMs) / 1000);
  }
}
