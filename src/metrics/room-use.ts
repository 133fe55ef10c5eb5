// What a lobby says of what its rooms use, as it travels: sums for those who watch, and the rooms that use most.
import type { RoomOverview } from "../protocol/chat-events.ts";
import type { Tally } from "./meter.ts";
import { monthlyCost } from "./cost.ts";
import { trafficOf, wakesOf, type Usage } from "./room-usage.ts";

export const USE_SORTS = ["traffic", "connections", "rows", "wakes", "awake", "cost"] as const;

/** By deliveries and frames received, by connections, rows and alarms set, wakes, time awake, or what that costs in a month. */
export type UseSort = (typeof USE_SORTS)[number];

/** The same, or by the traffic of the last hours. */
export type Ranking = UseSort | "lately";

export interface UseQuery {
  readonly sort: Ranking;
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
  /** Its traffic of the last hours, the older the less. */
  readonly lately: number;
  /** Of the last tally that is in it. */
  readonly tallyId: number;
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
  readonly totals: Tally;
  /** The rooms with the most traffic lately. */
  readonly top: readonly RoomUse[];
}

/** What a list is sorted by; the most come first. */
export function rankOf(
  { usage, connections, lately, sinceMs }: Pick<RoomUse, "usage" | "connections" | "lately" | "sinceMs">,
  sort: Ranking,
  nowMs: number,
): number {
  switch (sort) {
    case "lately":
      return lately;
    case "traffic":
      return trafficOf(usage);
    case "connections":
      return connections;
    case "rows":
      return usage.rows + usage.alarmsSet;
    case "wakes":
      return wakesOf(usage);
    case "awake":
      return usage.awakeMs;
    case "cost":
      return monthlyCost(usage, nowMs - sinceMs)?.total ?? 0;
  }
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
