// Counts per key in windows of a fixed length. Used by the limits on floods: connects per address, refusals per user, packets
// per session.
import { hasPassed } from "./has-passed.ts";
import { RecentMap } from "./recent-map.ts";

/** All keys share a window. A clock that was set back begins the next one. */
export class Window<Key = string> {
  readonly #lengthMs: number;
  readonly #counts: RecentMap<Key, number>;
  #sinceMs = -Infinity;

  /** @param keysMax keys counted at a time; one more takes the place of the key that was counted longest ago */
  constructor(lengthMs: number, keysMax = Infinity) {
    this.#lengthMs = lengthMs;
    this.#counts = new RecentMap(keysMax);
  }

  /** Counts one more. @returns how many there are of the key in this window */
  count(key: Key, nowMs: number): number {
    const count = this.countOf(key, nowMs) + 1;
    // Were all counts forgotten, many keys would set a flood's count back.
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

  forget(key: Key): void {
    this.#counts.delete(key);
  }
}
