// What a lobby says of what its rooms use, as it travels: sums for those who watch, and the rooms that use most.
import type { RoomOverview } from "../protocol/chat-events.ts";
import type { Counts } from "./meter.ts";
import { costOf } from "./cost.ts";
import { trafficOf, wakesOf, type Usage } from "./room-usage.ts";

export const USE_SORTS = ["traffic", "connections", "rows", "wakes", "awake", "cost"] as const;

/**
 * By deliveries and frames received, rows and alarms set, wakes, time awake, or what all that costs, each of the last
 * hours; or by connections.
 */
export type UseSort = (typeof USE_SORTS)[number];

export interface UseQuery {
  readonly sort: UseSort;
  readonly limit: number;
  /** A token's claim: names, or prefixes ending in `*`. Absent: every room. */
  readonly rooms?: readonly string[] | undefined;
  /** One room alone. */
  readonly room?: string;
}

export interface RoomUse extends RoomOverview {
  readonly connections: number;
  /** Since when somebody counts, in milliseconds since 1970. */
  readonly sinceMs: number;
  readonly usage: Usage;
  /** What of it counts as recent now. */
  readonly recent: Usage;
  /** Of the last counter delta that is in it. */
  readonly deltaId: number;
}

/** What all rooms of a lobby come to. */
export interface UseSums {
  readonly rooms: number;
  readonly occupied: number;
  readonly members: number;
  readonly connections: number;
  /** Connections to the room that has most of them. */
  readonly largest: number;
}

export interface Scrape extends UseSums {
  /** All that was ever counted, of rooms and Workers. */
  readonly totals: Counts;
  /** The rooms with the most traffic lately. */
  readonly top: readonly RoomUse[];
}

/** What a list is sorted by; the most come first. By what was used, not by a rate: new rooms would have the highest ones. */
export function rankOf({ recent, connections }: Ranked, sort: UseSort): number {
  return sort === "connections" ? connections : MEASURES[sort](recent);
}

type Ranked = Pick<RoomUse, "recent" | "connections">;

const MEASURES: Readonly<Record<Exclude<UseSort, "connections">, (usage: Usage) => number>> = {
  traffic: trafficOf,
  rows: ({ rows, alarmsSet }) => rows + alarmsSet,
  wakes: wakesOf,
  awake: ({ awakeMs }) => awakeMs,
  cost: (usage) => costOf(usage).total,
};

/** The most first. */
export function ranked<Use extends Ranked>(uses: readonly Use[], sort: UseSort): readonly Use[] {
  return uses.toSorted((a, b) => rankOf(b, sort) - rankOf(a, sort));
}

export const NO_USE: UseSums = { rooms: 0, occupied: 0, members: 0, connections: 0, largest: 0 };

export function addUse(a: UseSums, b: UseSums): UseSums {
  return {
    rooms: a.rooms + b.rooms,
    occupied: a.occupied + b.occupied,
    members: a.members + b.members,
    connections: a.connections + b.connections,
    largest: Math.max(a.largest, b.largest),
  };
}
