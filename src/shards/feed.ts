// The pieces on their way to one shard: one call at a time, in order, sent again until they arrive. Bounded: a shard that is away for long
// gets what it missed from the log. Made by feeds.ts.
import { waitAfter } from "../clock/rates.ts";
import type { FeedAnswer, FeedCall, LogPlace, ShardItem, ShardPiece } from "../protocol/shards.ts";

/** SHD-7: characters that wait for a shard at most; beyond them it has to mend the gap. */
export const WAITING_CHARS_MAX = 4_000_000;
/**
 * SHD-12: where something waits for shards below, the feed looks so long after its last piece whether it has arrived. A shard cannot sleep as
 * soon as that: one that does not have it any more has died.
 */
const LOOK_MS = 1000;
/** Characters of a call. One larger piece makes a call of its own. */
const CALL_CHARS_MAX = 1_000_000;

const BACKOFF = { first: 100, max: 5000 };

export interface FeedPorts {
  readonly send: (shard: number, call: FeedCall) => Promise<FeedAnswer>;
  /** @returns the items that lead a shard from one place of the log to a later one */
  readonly missed: (from: LogPlace, to: LogPlace) => Promise<readonly ShardItem[]> | readonly ShardItem[];
  /** An id that no other feed has. */
  readonly newId: () => string;
  readonly wait: (ms: number) => Promise<void>;
  readonly report: (problem: string, error: unknown) => void;
  /** Counts a series for `GET /metrics`. */
  readonly count: (series: string, by?: number) => void;
}

export class Feed {
  readonly shard: number;
  /** Shards that get the pieces by way of this one. */
  below: readonly number[] = [];
  readonly #ports: FeedPorts;
  #life: string;
  #calls = 0;
  /** The number of the first piece that waits. */
  #first = 0;
  #waiting: ShardPiece[] = [];
  #chars = 0;
  /** Characters that wait at the shard for those below, by shard, as it said last. */
  #below: FeedAnswer["waiting"];
  /** The place after the last piece that was taken. */
  #place: LogPlace | undefined;
  #hasDropped = false;
  #isSending = false;
  #failures = 0;

  constructor(shard: number, ports: FeedPorts) {
    this.shard = shard;
    this.#ports = ports;
    this.#life = ports.newId();
  }

  /** Characters that wait here or further on for the shard, or for one that gets its pieces by way of it. */
  charsOf(shard: number): number {
    return this.#chars + (this.#below?.[shard] ?? 0);
  }

  get isIdle(): boolean {
    return !this.#isSending && this.#waiting.length === 0;
  }

  push(piece: ShardPiece): void {
    if (this.#chars + piece.items.length > WAITING_CHARS_MAX) this.drop();
    this.#waiting.push(piece);
    this.#chars += piece.items.length;
    if (!this.#isSending) void this.#run();
  }

  /** Forgets the pieces that wait, and the answers in them. The next call tells the shard that pieces were forgotten. */
  drop(): void {
    this.#renew();
    this.#waiting = [];
    this.#chars = 0;
    this.#below = undefined;
    this.#hasDropped = true;
  }

  #renew(): void {
    this.#life = this.#ports.newId();
    this.#calls = 0;
    this.#first = 0;
  }

  async #run(): Promise<void> {
    this.#isSending = true;
    while (this.#waiting.length > 0) await this.#step();
    this.#isSending = false;
    if (this.#below) await this.#look();
  }

  /** The shard may have died with what waits there for others. Another instance of it has them notice the gap. */
  async #look(): Promise<void> {
    const [life, calls, place] = [this.#life, this.#calls, this.#place];
    await this.#ports.wait(LOOK_MS);
    if (place && life === this.#life && calls === this.#calls)
      this.push({ to: this.shard, before: place, after: place, items: "[]" });
  }

  async #step(): Promise<void> {
    const { send, missed, wait, report, count } = this.#ports;
    const life = this.#life;
    try {
      const { taken, behind, isVoid, waiting } = await send(this.shard, this.#call());
      // Meanwhile everything may have been dropped.
      if (life !== this.#life) return;
      if (isVoid) return this.#renew();
      this.#failures = 0;
      this.#hasDropped = false;
      this.#below = waiting;
      this.#took(taken);
      if (taken > 0) count("shard_pieces", taken);
      const [next] = this.#waiting;
      if (!behind || !next) return;
      const steps = await missed(behind, next.before);
      count(`shard_gaps:${steps.some(({ type }) => type === "send-away") ? "lost" : "mended"}`);
      const items = JSON.stringify(steps);
      if (life !== this.#life) return;
      this.#chars += items.length;
      this.#waiting.unshift({ to: this.shard, before: behind, after: next.before, items });
    } catch (error) {
      count("shard_failures:pieces");
      if (++this.#failures === 1) report(`shard ${this.shard} takes nothing`, error);
      await wait(waitAfter(BACKOFF, this.#failures));
    }
  }

  #call(): FeedCall {
    const pieces: ShardPiece[] = [];
    let chars = 0;
    for (const piece of this.#waiting) {
      chars += piece.items.length;
      if (pieces.length > 0 && chars > CALL_CHARS_MAX) break;
      pieces.push(piece);
    }
    return {
      life: this.#life,
      call: ++this.#calls,
      first: this.#first,
      pieces,
      below: this.below,
      ...(this.#hasDropped && { hasDropped: true }),
      ...(this.#below && { hasWaiting: true }),
    };
  }

  #took(count: number): void {
    for (const { items, after } of this.#waiting.splice(0, count)) {
      this.#chars -= items.length;
      this.#place = after;
    }
    this.#first += count;
  }
}
