// The streams of a room, or of a shard that passes chunks on (SHD-12). Shards form a tree: the first ones get their chunks from the room, each further
// one from the shard before it in the tree, so that no object calls more than `fanOut` others. Made by chat/shards and receiver.ts.
import type { LogPosition, ShardChunk } from "../protocol/shards.ts";
import { Sessions, type SessionsPorts } from "./sessions.ts";
import { Stream, type StreamPorts } from "./stream.ts";

/** @returns the shard that passes chunks on to this one; `undefined`: the room does */
export const parentOf = (shard: number, fanOut: number): number | undefined =>
  shard < fanOut ? undefined : Math.floor(shard / fanOut) - 1;

export interface Tree {
  /** The shard that passes chunks on; absent: the room does. */
  readonly self?: number;
  /** Shards that one object calls at most. */
  readonly fanOut: number;
}

export interface StreamsPorts extends Omit<StreamPorts, "send">, SessionsPorts {}

export class Streams {
  readonly #tree: Tree;
  readonly #ports: StreamPorts;
  readonly #sessions: Sessions;
  /** Also those that are not reached at present: they go on with the same numbers. */
  readonly #streams = new Map<number, Stream>();
  #reached: ReadonlySet<number> = new Set();
  #isStopped = false;

  constructor(tree: Tree, ports: StreamsPorts) {
    this.#tree = tree;
    const sessions = new Sessions(ports);
    this.#sessions = sessions;
    this.#ports = { ...ports, send: (shard, call) => sessions.send(shard, call) };
  }

  /** Characters that wait for each shard, here or further on; none for shards that nothing waits for. */
  get waiting(): Readonly<Record<number, number>> | undefined {
    const all = [...this.#streams.values()].flatMap((stream) =>
      [stream.shard, ...stream.below].map((shard) => [shard, stream.charsOf(shard)] as const),
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
    return this.#streams.get(this.#first(shard))?.charsOf(shard) ?? 0;
  }

  /** Whether nothing is on its way to the shard, or to one that gets its chunks by way of the same stream. */
  isIdle(shard: number): boolean {
    return this.#streams.get(this.#first(shard))?.isIdle ?? true;
  }

  /** Names all shards that get chunks from here, directly or not. */
  reach(shards: readonly number[]): void {
    const below = Map.groupBy(shards, (shard) => this.#first(shard));
    for (const [first, all] of below) {
      const stream = this.#streams.get(first) ?? new Stream(first, this.#ports);
      stream.below = all.filter((shard) => shard !== first);
      this.#streams.set(first, stream);
    }
    this.#reached = new Set(below.keys());
  }

  /** Nothing is sent any more, not even what waits. */
  stop(): void {
    this.#isStopped = true;
    for (const stream of this.#streams.values()) stream.drop();
    this.#sessions.stop();
  }

  /** What earlier instances or senders had for the shards was lost: they notice at once. @param position in the log at present */
  lose(position: LogPosition): void {
    for (const stream of this.#streams.values()) stream.drop();
    this.push({ before: position, after: position, items: "[]" });
  }

  push(chunk: ShardChunk): void {
    const { to } = chunk;
    if (this.#isStopped) return;
    for (const stream of this.#streams.values())
      if (this.#reached.has(stream.shard) && (to === undefined || to === stream.shard || stream.below.includes(to)))
        stream.push(chunk);
  }

  /** The shard that is called from here on the way to `shard`. */
  #first(shard: number): number {
    const { self, fanOut } = this.#tree;
    const parent = parentOf(shard, fanOut);
    return parent === self || parent === undefined ? shard : this.#first(parent);
  }
}
