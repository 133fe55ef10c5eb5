// The shards that a room reaches, and the items for them: what a turn adds leaves at its end as chunks, by way of the streams. A shard is reached
// while it has members, or answers to come. Made by shards.ts; member-requests.ts adds answers.
import type { ShardItem } from "../../protocol/shards.ts";
import { WAITING_CHARS_MAX } from "../../shards/stream.ts";
import { Streams, type StreamsPorts } from "../../shards/streams.ts";
import { Chunks } from "./chunks.ts";
import type { CurrentPosition } from "./current-position.ts";

/**
 * SHD-7: with more characters on their way to a shard its members' requests are refused. Pages of history alone could otherwise fill the
 * stream, which then drops the answers of all.
 */
const ANSWERS_CHARS_MAX = WAITING_CHARS_MAX / 2;

export interface ReachPorts extends StreamsPorts {
  /** Shards that one object calls. */
  readonly fanOut: number;
  readonly currentPosition: CurrentPosition;
  readonly hasMembers: (shard: number) => boolean;
}

export class Reach {
  readonly streams: Streams;
  readonly #ports: ReachPorts;
  readonly #chunks: Chunks;
  readonly #reached = new Set<number>();
  /** Answers that the room owes, by shard. */
  readonly #owed = new Map<number, number>();

  constructor(ports: ReachPorts) {
    this.#ports = ports;
    this.streams = new Streams({ fanOut: ports.fanOut }, ports);
    this.#chunks = new Chunks(
      () => ports.currentPosition.now,
      (chunk) => this.streams.push(chunk),
    );
  }

  get isEmpty(): boolean {
    return this.#reached.size === 0;
  }

  reach(shard: number): void {
    if (this.#reached.has(shard)) return;
    if (this.isEmpty) {
      this.#ports.currentPosition.begin();
      this.#chunks.begin();
    }
    this.#reached.add(shard);
    this.streams.reach([...this.#reached]);
  }

  /** Reaches shards, and sends a chunk without items, by which they meet this run of the room. */
  greet(shards: readonly number[]): void {
    if (shards.length === 0) return;
    for (const shard of shards) this.reach(shard);
    this.#chunks.greet();
  }

  /** @param to the only shard that it is for; absent: all. @throws TypeError, RangeError for an item that cannot be sent */
  add(item: ShardItem, to?: number): void {
    this.#chunks.add(item, to);
  }

  /** The room owes the shard an answer. @returns ends that */
  owe(shard: number): () => void {
    this.#owed.set(shard, (this.#owed.get(shard) ?? 0) + 1);
    return () => void this.#owed.set(shard, this.#owed.get(shard)! - 1);
  }

  /** Whether so much waits for the shard that it gets no more answers. */
  isBusy(shard: number): boolean {
    return this.streams.charsOf(shard) + this.#chunks.chars > ANSWERS_CHARS_MAX;
  }

  /** Sends what the turn added, and leaves shards that nothing is for any more. @returns whether it sent anything */
  endTurn(): boolean {
    const hasSent = this.#chunks.send();
    this.#ports.currentPosition.carry(hasSent);
    for (const shard of this.#reached) if (this.#isOver(shard)) this.#leave(shard);
    return hasSent;
  }

  #isOver(shard: number): boolean {
    return !this.#ports.hasMembers(shard) && !this.#owed.get(shard) && this.streams.isIdle(shard);
  }

  #leave(shard: number): void {
    this.#reached.delete(shard);
    this.streams.reach([...this.#reached]);
  }
}
