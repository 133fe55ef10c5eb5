// Totals over the rooms of a lobby, and the rooms that use most. Called by lobby.ts for `GET /metrics` and `GET /api/stats`.
import {
  addTotals,
  NO_ROOMS,
  rankOf,
  type RoomUsage,
  type UsageQuery,
  type RoomTotals,
} from "../../metrics/busiest-rooms.ts";
import { recentAt, usageOf } from "../../metrics/usage.ts";
import { isDirectRoom } from "../../protocol/direct-name.ts";
import { roomAllowed } from "../../protocol/room-name.ts";
import { seenAt, type KeptRoom } from "./kept-room.ts";

/** @returns the rooms of the query, the one that uses most first; rooms between two people are in the sums alone (DM-3) */
export function mostUsed(
  all: Iterable<KeptRoom>,
  { sort, limit, rooms, room, having }: UsageQuery,
  nowMs: number,
): RoomUsage[] {
  const found: Array<{ kept: KeptRoom; rank: number }> = [];
  for (const kept of all) {
    if (isDirectRoom(kept.room)) continue;
    if (!roomAllowed(rooms, kept.room) || (room !== undefined && kept.room !== room)) continue;
    if (having !== undefined && !Object.hasOwn(kept.facts ?? {}, having)) continue;
    found.push({ kept, rank: rankIn(kept, sort, nowMs) });
  }
  found.sort((a, b) => b.rank - a.rank || (a.kept.room < b.kept.room ? -1 : 1));
  return found.slice(0, limit).flatMap(({ kept }) => useOf(kept, nowMs) ?? []);
}

function rankIn({ usage }: KeptRoom, sort: UsageQuery["sort"], nowMs: number): number {
  if (!usage) return 0;
  return rankOf({ ...usage, recent: usageOf(recentAt(usage.recent, nowMs)) }, sort);
}

export function sumOf(all: Iterable<KeptRoom>, nowMs: number): RoomTotals {
  let sums = NO_ROOMS;
  for (const kept of all) {
    const seen = seenAt(kept, nowMs);
    if (!seen) continue;
    const { members } = seen;
    const connections = members === 0 ? 0 : (kept.usage?.connections ?? members);
    const [shards, inShards] = (members > 0 && kept.shards) || [0, 0];
    const occupied = Math.min(1, members);
    sums = addTotals(sums, { rooms: 1, occupied, members, connections, largest: connections, shards, inShards });
  }
  return sums;
}

function useOf(kept: KeptRoom, nowMs: number): RoomUsage | undefined {
  const seen = seenAt(kept, nowMs);
  if (!seen) return undefined;
  const { sinceMs = nowMs, connections: said = 0, numbers = [], deltaId = 0 } = kept.usage ?? {};
  const connections = seen.members === 0 ? 0 : said;
  const recent = usageOf(recentAt(kept.usage?.recent, nowMs));
  const facts = kept.facts && { facts: kept.facts };
  return { ...seen, connections, ...facts, sinceMs, usage: usageOf(numbers), recent, deltaId };
}
