// Two calls of one room need not arrive in the order in which they were made: what was said last counts, lest a room that
// was deleted comes back into the list.
import type { RoomReport } from "../protocol/room-list.ts";

/** Rooms whose newest report is remembered; of others the lobby has not heard for long. In memory only. */
const ROOMS_MAX = 10_000;

/** A report that is older by more than this comes of a clock that was set back. */
const OVERTAKEN_MS_MAX = 60_000;

export class NewestReports {
  /** By room, the one that was heard of last comes last. */
  readonly #madeAtMs = new Map<string, number>();

  /** @returns when the room said what it goes by, where that was later: in milliseconds since 1970, by its own clock */
  overtaking({ room, madeAtMs }: RoomReport): number | undefined {
    const newestMs = this.#madeAtMs.get(room) ?? -Infinity;
    if (madeAtMs < newestMs && newestMs - madeAtMs <= OVERTAKEN_MS_MAX) return newestMs;
    this.#madeAtMs.delete(room);
    this.#madeAtMs.set(room, madeAtMs);
    const [oldest] = this.#madeAtMs.keys();
    if (this.#madeAtMs.size > ROOMS_MAX) this.#madeAtMs.delete(oldest!);
    return undefined;
  }
}
