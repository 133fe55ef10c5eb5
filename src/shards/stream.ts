// The chunks on their way to one shard: one call at a time, in order, sent again until they arrive. Bounded: a shard that is away for long
// gets what it missed from the log. Made by streams.ts.
import { waitAfter } from "../clock/rates.ts";
import type { StreamAnswer, StreamCall, LogPosition, ShardItem, ShardChunk } from "../protocol/shards.ts";

/** SHD-7: characters that wait for a shard at most; beyond them it has to mend the gap. */
export const WAITING_CHARS_MAX = 4_000_000;
/**
 * SHD-12: where something waits for shards below, the stream looks so long after its last chunk whether it has arrived. A shard cannot sleep as
 * soon as that: one that does not have it any more has died.
 */
const LOOK_MS = 1000;
/** Characters of a call. One larger chunk makes a call of its own. */
const CALL_CHARS_MAX = 1_000_000;

const BACKOFF = { first: 100, max: 5000 };

export interface StreamPorts {
  readonly send: (shard: number, call: StreamCall) => Promise<StreamAnswer>;
  /** @returns the items that lead a shard from one position in the log to a later one */
  readonly missed: (from: LogPosition, to: LogPosition) => Promise<readonly ShardItem[]> | readonly ShardItem[];
  /** An id that no other stream has. */
  readonly newId: () => string;
  readonly wait: (ms: number) => Promise<void>;
  readonly report: (problem: string, error: unknown) => void;
  /** Counts a series for `GET /metrics`. */
  readonly count: (series: string, by?: number) => void;
}

export class Stream {
  readonly shard: number;
  /** Shards that get the chunks by way of this one. */
  below: readonly number[] = [];
  readonly #ports: StreamPorts;
  #sequence: string;
  #calls = 0;
  /** The number of the first chunk that waits. */
  #first = 0;
  #waiting: ShardChunk[] = [];
  #chars = 0;
  /** Characters that wait at the shard for those below, by shard, as it said last. */
  #below: StreamAnswer["waiting"];
  /** The position after the last chunk that was taken. */
  #position: LogPosition | undefined;
  #hasDropped = false;
  #isSending = false;
  #failures = 0;

  constructor(shard: number, ports: StreamPorts) {
    this.shard = shard;
    this.#ports = ports;
    this.#sequence = ports.newId();
  }

  /** Characters that wait here or further on for the shard, or for one that gets its chunks by way of it. */
  charsOf(shard: number): number {
    return this.#chars + (this.#below?.[shard] ?? 0);
  }

  get isIdle(): boolean {
    return !this.#isSending && this.#waiting.length === 0;
  }

  push(chunk: ShardChunk): void {
    if (this.#chars + chunk.items.length > WAITING_CHARS_MAX) this.drop();
    this.#waiting.push(chunk);
    this.#chars += chunk.items.length;
    if (!this.#isSending) void this.#run();
  }

  /** Forgets the chunks that wait, and the answers in them. The next call tells the shard that chunks were forgotten. */
  drop(): void {
    this.#renew();
    this.#waiting = [];
    this.#chars = 0;
    this.#below = undefined;
    this.#hasDropped = true;
  }

  #renew(): void {
    this.#sequence = this.#ports.newId();
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
    const [sequence, calls, position] = [this.#sequence, this.#calls, this.#position];
    await this.#ports.wait(LOOK_MS);
    if (position && sequence === this.#sequence && calls === this.#calls)
      this.push({ to: this.shard, before: position, after: position, items: "[]" });
  }

  async #step(): Promise<void> {
    const { send, missed, wait, report, count } = this.#ports;
    const sequence = this.#sequence;
    try {
      const { taken, behind, isVoid, waiting } = await send(this.shard, this.#call());
      // Meanwhile everything may have been dropped.
      if (sequence !== this.#sequence) return;
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
      if (sequence !== this.#sequence) return;
      this.#chars += items.length;
      this.#waiting.unshift({ to: this.shard, before: behind, after: next.before, items });
    } catch (error) {
      count("shard_failures:pieces");
      if (++this.#failures === 1) report(`shard ${this.shard} takes nothing`, error);
      await wait(waitAfter(BACKOFF, this.#failures));
    }
  }

  #call(): StreamCall {
    const chunks: ShardChunk[] = [];
    let chars = 0;
    for (const chunk of this.#waiting) {
      chars += chunk.items.length;
      if (chunks.length > 0 && chars > CALL_CHARS_MAX) break;
      chunks.push(chunk);
    }
    return {
      life: this.#sequence,
      call: ++this.#calls,
      first: this.#first,
      pieces: chunks,
      below: this.below,
      ...(this.#hasDropped && { hasDropped: true }),
      ...(this.#below && { hasWaiting: true }),
    };
  }

  #took(count: number): void {
    for (const { items, after } of this.#waiting.splice(0, count)) {
      this.#chars -= items.length;
      this.#position = after;
    }
    this.#first += count;
  }
}
