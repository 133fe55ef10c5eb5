// Counts per key in windows of a fixed length. Used by the limits on floods: connects per address, refusals per user, packets
// per session.
import { hasPassed } from "./has-passed.ts";

/** All keys share a window. A clock that was set back begins the next one. */
export class Window<Key = string> {
  readonly #lengthMs: number;
  readonly #keysMax: number;
  readonly #counts = new Map<Key, number>();
  #sinceMs = -Infinity;

  /** @param keysMax keys counted at a time; one more takes the place of the key that was counted longest ago */
  constructor(lengthMs: number, keysMax = Infinity) {
    this.#lengthMs = lengthMs;
    this.#keysMax = keysMax;
  }

  /** Counts one more. @returns how many there are of the key in this window */
  count(key: Key, nowMs: number): number {
    const count = this.countOf(key, nowMs) + 1;
    // The key counted last is the last in the map. Were all counts forgotten, many keys would set a flood's count back.
    this.#counts.delete(key);
    if (this.#counts.size >= this.#keysMax) this.#forgetOldest();
    this.#counts.set(key, count);
    return count;
  }

  countOf(key: Key, nowMs: number): number {
    if (hasPassed(this.#sinceMs, this.#lengthMs, nowMs)) {
      this.#counts.clear();
      this.#sinceMs = nowMs;
    }
    return this.#counts.get(key) ?? 0;
  }

  /** Until the next window. */
  restMs(nowMs: number): number {
    return Math.max(0, this.#sinceMs + this.#lengthMs - nowMs);
  }

  #forgetOldest(): void {
    for (const oldest of this.#counts.keys()) return this.forget(oldest);
  }

  forget(key: Key): void {
    this.#counts.delete(key);
  }
}
