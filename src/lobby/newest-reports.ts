// Remembers when each room made its newest report, because two calls of one room may arrive in the wrong order: without it a deleted
// room could come back into the list. Called by lobby.ts.
import { OVERTAKEN_MS_MAX, type RoomReport } from "../protocol/room-list.ts";

/** Rooms that are remembered, those with the latest reports. In memory only. */
const ROOMS_MAX = 10_000;

export class NewestReports {
  /** By room, the one that reported last comes last. */
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
