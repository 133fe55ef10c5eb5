// The feeds of a room, or of a shard that passes pieces on (SHD-12). Shards form a tree: the first ones get their pieces from the room, each further
// one from the shard before it in the tree, so that no object calls more than `fanOut` others. Made by chat/shards and intake.ts.
import type { LogPlace, ShardPiece } from "../protocol/shards.ts";
import { Feed, type FeedPorts } from "./feed.ts";

/** @returns the shard that passes pieces on to this one; `undefined`: the room does */
export const parentOf = (shard: number, fanOut: number): number | undefined =>
  shard < fanOut ? undefined : Math.floor(shard / fanOut) - 1;

export interface Tree {
  /** The shard that passes pieces on; absent: the room does. */
  readonly self?: number;
  /** Shards that one object calls at most. */
  readonly fanOut: number;
}

export class Feeds {
  readonly #tree: Tree;
  readonly #ports: FeedPorts;
  /** Also those that are not reached at present: they go on with the same numbers. */
  readonly #feeds = new Map<number, Feed>();
  #reached: ReadonlySet<number> = new Set();
  #isStopped = false;

  constructor(tree: Tree, ports: FeedPorts) {
    this.#tree = tree;
    this.#ports = ports;
  }

  /** Characters that wait for each shard, here or further on; none for shards that nothing waits for. */
  get waiting(): Readonly<Record<number, number>> | undefined {
    const all = [...this.#feeds.values()].flatMap((feed) =>
      [feed.shard, ...feed.below].map((shard) => [shard, feed.charsOf(shard)] as const),
    );
    const some = all.filter(([, chars]) => chars > 0);
    return some.length > 0 ? Object.fromEntries(some) : undefined;
  }

  /** Characters that wait for the slowest shard. */
  get charsMax(): number {
    return Math.max(0, ...Object.values(this.waiting ?? {}));
  }

  /** Characters that wait for a shard, here or further on. */
  charsOf(shard: number): number {
    return this.#feeds.get(this.#first(shard))?.charsOf(shard) ?? 0;
  }

  /** Whether nothing is on its way to the shard, or to one that gets its pieces by way of the same feed. */
  isIdle(shard: number): boolean {
    return this.#feeds.get(this.#first(shard))?.isIdle ?? true;
  }

  /** Names all shards that get pieces from here, directly or not. */
  reach(shards: readonly number[]): void {
    const below = Map.groupBy(shards, (shard) => this.#first(shard));
    for (const [first, all] of below) {
      const feed = this.#feeds.get(first) ?? new Feed(first, this.#ports);
      feed.below = all.filter((shard) => shard !== first);
      this.#feeds.set(first, feed);
    }
    this.#reached = new Set(below.keys());
  }

  /** Nothing is sent any more, not even what waits. */
  stop(): void {
    this.#isStopped = true;
    for (const feed of this.#feeds.values()) feed.drop();
  }

  /** What earlier instances or senders had for the shards was lost: they notice at once. @param place of the log at present */
  lose(place: LogPlace): void {
    for (const feed of this.#feeds.values()) feed.drop();
    this.push({ before: place, after: place, items: "[]" });
  }

  push(piece: ShardPiece): void {
    const { to } = piece;
    if (this.#isStopped) return;
    for (const feed of this.#feeds.values())
      if (this.#reached.has(feed.shard) && (to === undefined || to === feed.shard || feed.below.includes(to)))
        feed.push(piece);
  }

  /** The shard that is called from here on the way to `shard`. */
  #first(shard: number): number {
    const { self, fanOut } = this.#tree;
    const parent = parentOf(shard, fanOut);
    return parent === self || parent === undefined ? shard : this.#first(parent);
  }
}
