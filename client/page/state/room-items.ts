// Builds the list of rooms: those that the lobby lists, and those that the reader has visited. Pure; the room list and the chat
// store call it.
import type { RoomOverview } from "parley-rooms/client";

/** How far each room has been read in this browser, by name. */
export type SeenRooms = Readonly<Record<string, number>>;

export interface RoomItem {
  readonly room: string;
  /** Absent where the lobby does not list the room. */
  readonly members?: number;
  /** Messages that came since the last visit; 0 for rooms never visited. */
  readonly unread: number;
}

interface Known {
  readonly listed: readonly RoomOverview[];
  readonly seen: SeenRooms;
  readonly current: string;
  /** The part of a name that the reader types to find a room. */
  readonly filter?: string;
  /** The shown order while the reader points at the list: new rooms come below, and gone ones keep their places. */
  readonly held?: readonly string[];
}

/** Visited rooms come first; both parts are sorted by name, so that the list does not move under the pointer. */
export function roomItems({ listed, seen, current, filter = "", held = [] }: Known): RoomItem[] {
  const places = new Map(held.map((room, at) => [room, at]));
  const byName = new Map<string, RoomItem>();
  for (const room of [...held, ...Object.keys(seen), current]) byName.set(room, { room, unread: 0 });
  for (const { room, members, lastSeq } of listed) {
    const seenSeq = Object.hasOwn(seen, room) ? seen[room] : undefined;
    // A room that was deleted counts from 1 again.
    const unread = seenSeq === undefined || room === current ? 0 : Math.max(0, lastSeq - seenSeq);
    byName.set(room, { room, members, unread });
  }
  const isVisited = ({ room }: RoomItem): boolean => Object.hasOwn(seen, room) || room === current;
  const wanted = filter.trim().toLowerCase();
  return Array.from(byName.values())
    .filter(({ room }) => room.toLowerCase().includes(wanted))
    .sort(
      (a, b) =>
        (places.get(a.room) ?? Infinity) - (places.get(b.room) ?? Infinity) ||
        Number(isVisited(b)) - Number(isVisited(a)) ||
        (a.room < b.room ? -1 : 1),
    );
}

/** The next room above (-1) or below (1) the current one, all around. */
export function neighbour(items: readonly RoomItem[], current: string, step: 1 | -1): string | undefined {
  const at = items.findIndex(({ room }) => room === current);
  return items.at((at + step) % items.length)?.room;
}
