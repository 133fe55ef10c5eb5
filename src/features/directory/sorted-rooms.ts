// Sorts the rooms of a lobby. That takes a tenth of a second for 100,000, so a large lobby does it once a second at most. Called by
// lobby.ts.
import { hasPassed } from "../../clock/rates.ts";
import { byPlace, placeOf, type RoomPlace, type RoomSort } from "../../protocol/room-list.ts";
import type { RoomOverview } from "../../protocol/chat-events.ts";

/** Up to this many are sorted for each query. */
export const SORTED_AT_ONCE_MAX = 1000;
/** The greatest age of the order of more of them. */
export const SORTED_MS_MAX = 1000;

export interface Placed {
  readonly room: RoomOverview;
  readonly place: RoomPlace;
}

interface Sorted {
  readonly atMs: number;
  readonly rooms: readonly Placed[];
}

export class SortedRooms {
  readonly #sorted = new Map<RoomSort, Sorted>();

  /** @param all called where they have to be sorted again */
  in(sort: RoomSort, nowMs: number, count: number, all: () => Iterable<RoomOverview>): readonly Placed[] {
    const known = this.#sorted.get(sort);
    const isFresh = known && !hasPassed(known.atMs, SORTED_MS_MAX, nowMs);
    if (isFresh && count > SORTED_AT_ONCE_MAX) return known.rooms;
    const rooms = Array.from(all(), (room) => ({ room, place: placeOf(sort, room) }));
    rooms.sort((a, b) => byPlace(a.place, b.place));
    this.#sorted.set(sort, { atMs: nowMs, rooms });
    return rooms;
  }
}
