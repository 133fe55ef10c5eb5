// The rooms that the reader may go to: those the lobby lists, and those they have been in. Pure; fetched by the session.
import type { RoomOverview } from "../../../src/protocol/chat-events.ts";

/** How far each room has been read in this browser, by name. */
export type SeenRooms = Readonly<Record<string, number>>;

export interface RoomItem {
  readonly room: string;
  /** Absent where the lobby says nothing of the room. */
  readonly members?: number;
  /** Messages that came since the reader was there; 0 where they never were. */
  readonly unread: number;
}

interface Known {
  readonly listed: readonly RoomOverview[];
  readonly seen: SeenRooms;
  readonly current: string;
  /** What the reader looks for; part of a name. */
  readonly filter?: string;
  /** How they stand while the reader points at one of them: what comes later comes below, and what goes keeps its place. */
  readonly held?: readonly string[];
}

/** Rooms the reader has been in come first, each part by name: a list that keeps still under one's finger. */
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
