// One room as it is watched: what it showed last, how old that is, and how much was said of late. Pure.
import type { ConnectionFacts, WatchedRoom } from "../../../src/protocol/watching.ts";
import type { Problem } from "./admin-api.ts";

/** Over so much time messages are counted. */
export const RATE_WINDOW_MS = 60_000;

export type Line =
  | { readonly state: "connecting" | "live" | "reconnecting" }
  /** For good: the room refused, or sent the page away. */
  | { readonly state: "ended"; readonly problem: Problem };

interface Mark {
  readonly at: number;
  readonly lastSeq: number;
}

export interface RoomSnapshot {
  readonly line: Line;
  readonly shown?: WatchedRoom;
  /** What the room's clock is ahead of ours. */
  readonly aheadMs: number;
  readonly marks: readonly Mark[];
  /** Connections that were asked for besides those that are shown live. */
  readonly more: readonly ConnectionFacts[];
}

export const UNSEEN: RoomSnapshot = { line: { state: "connecting" }, aheadMs: 0, marks: [], more: [] };

export const withLine = (snapshot: RoomSnapshot, line: Line): RoomSnapshot => ({ ...snapshot, line });

export function withShown(snapshot: RoomSnapshot, shown: WatchedRoom, nowMs: number): RoomSnapshot {
  const { at, lastSeq } = shown;
  // Places that fall are those of another life of the room.
  const isSame = lastSeq >= (snapshot.marks.at(-1)?.lastSeq ?? 0);
  const marks = isSame ? marksSince(snapshot.marks, at - RATE_WINDOW_MS) : [];
  return { ...snapshot, shown, aheadMs: at - nowMs, marks: [...marks, { at, lastSeq }], more: [] };
}

/** With the newest one before: it says how many there were then. */
function marksSince(marks: readonly Mark[], sinceMs: number): readonly Mark[] {
  return marks.slice(
    Math.max(
      0,
      marks.findLastIndex(({ at }) => at < sinceMs),
    ),
  );
}

export const withMore = (snapshot: RoomSnapshot, page: readonly ConnectionFacts[]): RoomSnapshot => ({
  ...snapshot,
  more: [...snapshot.more, ...page],
});

/** As the room gave them: in the order of its pages. */
export const connectionsOf = ({ shown, more }: RoomSnapshot): readonly ConnectionFacts[] => [
  ...(shown?.connections ?? []),
  ...more,
];

/** The longest there first, and those who only watch after all others. */
export const inOrder = (connections: readonly ConnectionFacts[]): readonly ConnectionFacts[] =>
  connections.toSorted((a, b) => Number(a.isWatching ?? false) - Number(b.isWatching ?? false) || a.since - b.since);

/** Messages of the last minute. `isWhole`: whether it was watched for so long. */
export function messagesLately({ marks, aheadMs }: RoomSnapshot, nowMs: number): { count: number; isWhole: boolean } {
  const sinceMs = nowMs + aheadMs - RATE_WINDOW_MS;
  const [first, ...later] = marksSince(marks, sinceMs);
  if (!first) return { count: 0, isWhole: false };
  return { count: (later.at(-1) ?? first).lastSeq - first.lastSeq, isWhole: first.at < sinceMs };
}
