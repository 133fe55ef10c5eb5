// Answers of a lobby about its rooms: totals for `GET /metrics`, and the rooms that use most for that and `GET /api/stats`.
// The Worker adds up and sorts the answers of several lobbies.
import type { RoomOverview } from "../protocol/chat-events.ts";
import type { RoomNumbers } from "../protocol/room-list.ts";
import type { Counts } from "./meter.ts";
import { costOf } from "./cost.ts";
import { trafficOf, wakesOf, type Usage } from "./usage.ts";

export const USAGE_SORTS = ["traffic", "connections", "rows", "wakes", "awake", "cost"] as const;

/**
 * By deliveries and frames received, rows and alarms set, wakes, time awake, or the cost of all that, each of the last
 * hours; or by connections.
 */
export type UsageSort = (typeof USAGE_SORTS)[number];

export interface UsageQuery {
  readonly sort: UsageSort;
  readonly limit: number;
  /** A token's claim: names, or prefixes ending in `*`. Absent: every room. */
  readonly rooms?: readonly string[] | undefined;
  /** One room alone. */
  readonly room?: string;
  /** Only rooms about which custom features say a number of that name (OWN-8). */
  readonly having?: string | undefined;
}

export interface RoomUsage extends RoomOverview {
  readonly connections: number;
  /** Numbers that custom features say about it, by name. */
  readonly facts?: RoomNumbers;
  /** Since when it is counted, in milliseconds since 1970. */
  readonly sinceMs: number;
  readonly usage: Usage;
  /** Of the last hours: see `recentAt`. */
  readonly recent: Usage;
  /** Of the last counter delta that is in it. */
  readonly deltaId: number;
}

/** Over all rooms of a lobby. */
export interface RoomTotals {
  readonly rooms: number;
  readonly occupied: number;
  readonly members: number;
  readonly connections: number;
  /** Connections to the room that has most of them. */
  readonly largest: number;
  readonly shards: number;
  /** Those of the connections that are in shards. */
  readonly inShards: number;
}

export interface Scrape extends RoomTotals {
  /** All counts of rooms and Workers ever. */
  readonly totals: Counts;
  /** The rooms with the most traffic lately. */
  readonly top: readonly RoomUsage[];
}

/** The value that a list is sorted by: a sum and no rate, because new rooms would have the highest rates. */
export function rankOf({ recent, connections }: Ranked, sort: UsageSort): number {
  return sort === "connections" ? connections : MEASURES[sort](recent);
}

type Ranked = Pick<RoomUsage, "recent" | "connections">;

const MEASURES: Readonly<Record<Exclude<UsageSort, "connections">, (usage: Usage) => number>> = {
  traffic: trafficOf,
  rows: ({ rows, alarmsSet }) => rows + alarmsSet,
  wakes: wakesOf,
  awake: ({ awakeMs }) => awakeMs,
  cost: (usage) => costOf(usage).total,
};

/** The most first. */
export function ranked<Use extends Ranked>(uses: readonly Use[], sort: UsageSort): readonly Use[] {
  return uses.toSorted((a, b) => rankOf(b, sort) - rankOf(a, sort));
}

export const NO_ROOMS: RoomTotals = {
  rooms: 0,
  occupied: 0,
  members: 0,
  connections: 0,
  largest: 0,
  shards: 0,
  inShards: 0,
};

export function addTotals(a: RoomTotals, b: RoomTotals): RoomTotals {
  return {
    rooms: a.rooms + b.rooms,
    occupied: a.occupied + b.occupied,
    members: a.members + b.members,
    connections: a.connections + b.connections,
    largest: Math.max(a.largest, b.largest),
    shards: a.shards + b.shards,
    inShards: a.inShards + b.inShards,
  };
}
