// How often one address may connect: a count per address and minute, kept in the isolate that sees it.
// Addresses reach few isolates of a location, so this is a brake on floods and not an exact quota.

const WINDOW_MS = 60_000;

export class ConnectRate {
  readonly #perMinute: number;
  #counts = new Map<string, number>();
  #windowStartMs = 0;

  /** @param perMinute connects per address; 0 is no limit */
  constructor(perMinute: number) {
    this.#perMinute = perMinute;
  }

  /** Counts one connect. @returns the seconds to wait where it was one too many, otherwise 0 */
  take(address: string, nowMs: number): number {
    if (this.#perMinute === 0) return 0;
    if (nowMs - this.#windowStartMs >= WINDOW_MS) {
      this.#windowStartMs = nowMs;
      this.#counts = new Map();
    }
    const count = (this.#counts.get(address) ?? 0) + 1;
    this.#counts.set(address, count);
    if (count <= this.#perMinute) return 0;
    return Math.ceil((this.#windowStartMs + WINDOW_MS - nowMs) / 1000);
  }
}
