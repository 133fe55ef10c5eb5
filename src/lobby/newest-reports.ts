// Two calls of one room need not arrive in the order in which they were made: what was said last counts, lest a room that
// was deleted comes back into the list.
import { OVERTAKEN_MS_MAX, type RoomReport } from "../protocol/room-list.ts";

/** Rooms whose newest report is remembered; of others the lobby has not heard for long. In memory only. */
const ROOMS_MAX = 10_000;

export class NewestReports {
  /** By room, the one that was heard of last comes last. */
  readonly #madeAtMs = new Map<string, number>();

  /** Whether the room has made a later report that is here already. */
  isOvertaken({ room, madeAtMs }: RoomReport): boolean {
    const newestMs = this.#madeAtMs.get(room) ?? -Infinity;
    if (madeAtMs < newestMs && newestMs - madeAtMs <= OVERTAKEN_MS_MAX) return true;
    this.#madeAtMs.delete(room);
    this.#madeAtMs.set(room, madeAtMs);
    const [oldest] = this.#madeAtMs.keys();
    if (this.#madeAtMs.size > ROOMS_MAX) this.#madeAtMs.delete(oldest!);
    return false;
  }
}
