// The shards that a room reaches, and the items for them: what a turn adds leaves at its end as pieces, by way of the feeds. A shard is reached
// while it has members, or answers to come. Made by shards.ts; member-requests.ts adds answers.
import type { ShardItem } from "../../protocol/shards.ts";
import { WAITING_CHARS_MAX, type FeedPorts } from "../../shards/feed.ts";
import { Feeds } from "../../shards/feeds.ts";
import { Pieces } from "./pieces.ts";
import type { PlaceOfLog } from "./place-of-log.ts";

/**
 * SHD-7: with more characters on their way to a shard its members' requests are refused. Pages of history alone could otherwise fill the
 * feed, which then drops the answers of all.
 */
const ANSWERS_CHARS_MAX = WAITING_CHARS_MAX / 2;

export interface ReachPorts extends FeedPorts {
  /** Shards that one object calls. */
  readonly fanOut: number;
  readonly placeOfLog: PlaceOfLog;
  readonly hasMembers: (shard: number) => boolean;
}

export class Reach {
  readonly feeds: Feeds;
  readonly #ports: ReachPorts;
  readonly #pieces: Pieces;
  readonly #reached = new Set<number>();
  /** Answers that the room owes, by shard. */
  readonly #owed = new Map<number, number>();

  constructor(ports: ReachPorts) {
    this.#ports = ports;
    this.feeds = new Feeds({ fanOut: ports.fanOut }, ports);
    this.#pieces = new Pieces(
      () => ports.placeOfLog.now,
      (piece) => this.feeds.push(piece),
    );
  }

  get isEmpty(): boolean {
    return this.#reached.size === 0;
  }

  reach(shard: number): void {
    if (this.#reached.has(shard)) return;
    if (this.isEmpty) {
      this.#ports.placeOfLog.begin();
      this.#pieces.begin();
    }
    this.#reached.add(shard);
    this.feeds.reach([...this.#reached]);
  }

  /** Reaches shards, and sends a piece without items, by which they meet this instance of the room. */
  greet(shards: readonly number[]): void {
    if (shards.length === 0) return;
    for (const shard of shards) this.reach(shard);
    this.#pieces.greet();
  }

  /** @param to the only shard that it is for; absent: all. @throws TypeError, RangeError for an item that cannot be sent */
  add(item: ShardItem, to?: number): void {
    this.#pieces.add(item, to);
  }

  /** The room owes the shard an answer. @returns ends that */
  owe(shard: number): () => void {
    this.#owed.set(shard, (this.#owed.get(shard) ?? 0) + 1);
    return () => void this.#owed.set(shard, this.#owed.get(shard)! - 1);
  }

  /** Whether so much waits for the shard that it gets no more answers. */
  isBusy(shard: number): boolean {
    return this.feeds.charsOf(shard) + this.#pieces.chars > ANSWERS_CHARS_MAX;
  }

  /** Sends what the turn added, and leaves shards that nothing is for any more. @returns whether it sent anything */
  endTurn(): boolean {
    const hasSent = this.#pieces.send();
    this.#ports.placeOfLog.carry(hasSent);
    for (const shard of this.#reached) if (this.#isOver(shard)) this.#leave(shard);
    return hasSent;
  }

  #isOver(shard: number): boolean {
    return !this.#ports.hasMembers(shard) && !this.#owed.get(shard) && this.feeds.isIdle(shard);
  }

  #leave(shard: number): void {
    this.#reached.delete(shard);
    this.feeds.reach([...this.#reached]);
  }
}
