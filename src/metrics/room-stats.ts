// What a room says of itself to those who look after it: why it is awake, and who is connected.
import type { CounterDelta } from "../protocol/room-list.ts";
import type { ConnectionFacts } from "../protocol/watching.ts";
import type { Counts } from "./meter.ts";

export interface StatsQuery {
  readonly limit: number;
  /** The `id` of the connection that the page before ended with. */
  readonly after?: string | undefined;
}

export interface RoomStats {
  readonly awake: { readonly since: number; readonly cause: string; readonly detail: string };
  readonly members: number;
  readonly connectionCount: number;
  readonly connections: readonly ConnectionFacts[];
  readonly hasMore: boolean;
  /** What was counted and not told to the lobby; and what was told, where it is not known to have arrived. */
  readonly unreported: { readonly told: readonly CounterDelta[]; readonly counts: Counts };
}

/** @param all of the room */
export function pageOf(
  all: Iterable<ConnectionFacts>,
  { limit, after = "" }: StatsQuery,
): Pick<RoomStats, "connections" | "hasMore"> {
  const behind = [...all].filter(({ id }) => id > after).sort((a, b) => (a.id < b.id ? -1 : 1));
  return { connections: behind.slice(0, limit), hasMore: behind.length > limit };
}
