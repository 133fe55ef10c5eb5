// The watched room: its last report, the age of that, and the number of recent messages. Pure; the admin store keeps one.
import type { ConnectionFacts, WatchedRoom } from "parley-rooms/client";

import type { Problem } from "./admin-api.ts";

/** The time over which messages are counted. */
export const RATE_WINDOW_MS = 60_000;

export type Line =
  | { readonly state: "connecting" | "live" | "reconnecting" }
  /** For good: the room refused or closed the connection. */
  | { readonly state: "ended"; readonly problem: Problem };

interface Sample {
  readonly at: number;
  readonly lastSeq: number;
}

export interface RoomSnapshot {
  readonly line: Line;
  readonly shown?: WatchedRoom;
  /** How far the room's clock is ahead of the browser's. */
  readonly aheadMs: number;
  readonly samples: readonly Sample[];
  /** Connections that the operator loaded beyond those of the live report. */
  readonly more: readonly ConnectionFacts[];
}

export const UNSEEN: RoomSnapshot = { line: { state: "connecting" }, aheadMs: 0, samples: [], more: [] };

export const withLine = (snapshot: RoomSnapshot, line: Line): RoomSnapshot => ({ ...snapshot, line });

export function withShown(snapshot: RoomSnapshot, shown: WatchedRoom, nowMs: number): RoomSnapshot {
  const { at, lastSeq } = shown;
  // A room that was deleted and created again counts its messages from 1, so `lastSeq` is smaller.
  const isSame = lastSeq >= (snapshot.samples.at(-1)?.lastSeq ?? 0);
  const samples = isSame ? samplesSince(snapshot.samples, at - RATE_WINDOW_MS) : [];
  return { ...snapshot, shown, aheadMs: at - nowMs, samples: [...samples, { at, lastSeq }], more: [] };
}

/** The samples since then, and the one before: it has the count at the beginning. */
function samplesSince(samples: readonly Sample[], sinceMs: number): readonly Sample[] {
  return samples.slice(
    Math.max(
      0,
      samples.findLastIndex(({ at }) => at < sinceMs),
    ),
  );
}

export const withMore = (snapshot: RoomSnapshot, page: readonly ConnectionFacts[]): RoomSnapshot => ({
  ...snapshot,
  more: [...snapshot.more, ...page],
});

/** In the order of the room's pages. */
export const connectionsOf = ({ shown, more }: RoomSnapshot): readonly ConnectionFacts[] => [
  ...(shown?.connections ?? []),
  ...more,
];

/** How many connections of the room itself are not among them: shards do not list theirs. */
export function leftIn(snapshot: RoomSnapshot): number {
  const { connectionCount = 0, shards = [] } = snapshot.shown ?? {};
  const inShards = shards.reduce((sum, { sockets }) => sum + sockets, 0);
  return connectionCount - inShards - connectionsOf(snapshot).length;
}

/** The oldest first; watching operators after all others. */
export const inOrder = (connections: readonly ConnectionFacts[]): readonly ConnectionFacts[] =>
  connections.toSorted((a, b) => Number(a.isWatching ?? false) - Number(b.isWatching ?? false) || a.since - b.since);

/** Messages of the last minute. `isWhole`: whether it was watched for so long. */
export function messagesLately({ samples, aheadMs }: RoomSnapshot, nowMs: number): { count: number; isWhole: boolean } {
  const sinceMs = nowMs + aheadMs - RATE_WINDOW_MS;
  const [first, ...later] = samplesSince(samples, sinceMs);
  if (!first) return { count: 0, isWhole: false };
  return { count: (later.at(-1) ?? first).lastSeq - first.lastSeq, isWhole: first.at < sinceMs };
}
