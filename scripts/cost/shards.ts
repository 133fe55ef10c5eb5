// The billable events of the shards of big rooms, as upper bounds: what a busy room gathers into one call counts as several. Pure; model.ts
// calls it. docs/scale.md explains shards.
import type { Workload } from "./model.ts";

/** A shard stays awake for so long after a piece, and then stores its place. */
const PLACE_SECONDS = 1;
/** A CONNECT in a shard: the call to the room, the verdict, the new size; and the size after it has gone. */
const CALLS_PER_CONNECT = 4;
/** The first rows of a shard; and those of its room while it fills, one for each tenth and one for the beginning. */
const ROWS_PER_SHARD = 2 + 11;

/** Shards of a room, which itself is full. */
export const shardsOf = ({ users, rooms, maxMembers }: Pick<Workload, "users" | "rooms" | "maxMembers">): number =>
  Math.max(0, Math.ceil(users / rooms / maxMembers) - 1);

export interface ShardEvents {
  readonly calls: number;
  readonly rows: number;
  readonly awakeSeconds: number;
}

/** @param happening in all rooms together, `shards` in each */
export function shardEvents(
  { rooms }: Pick<Workload, "rooms">,
  happening: {
    readonly shards: number;
    readonly roomSeconds: number;
    readonly commits: number;
    readonly connects: number;
    readonly posts: number;
  },
): ShardEvents {
  const { shards, roomSeconds, commits, connects, posts } = happening;
  if (shards === 0) return { calls: 0, rows: 0, awakeSeconds: 0 };
  const share = shards / (1 + shards);
  const perSecond = roomSeconds === 0 ? 0 : posts / roomSeconds;
  const quiet = Math.exp(-perSecond * PLACE_SECONDS);
  return {
    calls: commits * shards + share * (connects * CALLS_PER_CONNECT + posts),
    rows: rooms * shards * ROWS_PER_SHARD + commits * shards * quiet,
    awakeSeconds: roomSeconds * shards * (1 - quiet),
  };
}
