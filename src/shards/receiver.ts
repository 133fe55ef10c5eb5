// Takes the chunks that a shard gets, each once and in order, has them carried out, and passes them on to the shards below it. A chunk that
// does not follow on the position of the shard is refused, and the sender mends the gap. Made in src/objects/create-shard.ts, called by
// durable/room-shard.ts.
import { isSamePosition, type StreamAnswer, type StreamCall, type ShardChunk } from "../protocol/shards.ts";
import type { ShardMembers } from "./shard-members.ts";
import type { Streams } from "./streams.ts";
import type { EncodedItem } from "./replica.ts";

export interface ReceiverParts {
  /** The number of the shard. */
  readonly self: number;
  readonly members: ShardMembers;
  /** Of the shards below it. */
  readonly streams: Streams;
  /** Resolves once all other waiting work has had its turn. */
  readonly giveWay: () => Promise<void>;
}

/** Former sequences whose calls may still arrive. */
const FORMER_MAX = 8;

export class Receiver {
  readonly #parts: ReceiverParts;
  #sequence: string | undefined;
  #former: readonly string[] = [];
  /** The number of the last call. */
  #call = 0;
  /** The number of the next chunk. */
  #next = 0;
  /** The connections of members who were let in may not be there yet. */
  #isEntering = false;
  #last: Promise<unknown> = Promise.resolve();

  constructor(parts: ReceiverParts) {
    this.#parts = parts;
  }

  /** One call after another: a sender that got no answer calls again while its first call may be under way. */
  take(call: StreamCall): Promise<StreamAnswer> {
    const taking = this.#last.then(() => this.#take(call));
    this.#last = taking.catch(() => {});
    return taking;
  }

  async #take({ life: sequence, call, first, pieces: chunks, below, ...lost }: StreamCall): Promise<StreamAnswer> {
    const { self, members, streams } = this.#parts;
    const isVoid = sequence === this.#sequence ? call <= this.#call : this.#former.includes(sequence);
    if (isVoid) return { taken: 0, isVoid };
    this.#call = call;
    streams.reach(below);
    if (sequence !== this.#sequence) {
      const isFirst = this.#sequence === undefined;
      if (!isFirst) this.#former = [...this.#former, this.#sequence!].slice(-FORMER_MAX);
      this.#sequence = sequence;
      this.#next = first;
      if (lost.hasDropped) members.replica.loseAnswers();
      const [next] = chunks;
      const hasDied = isFirst && lost.hasWaiting;
      if (next && (lost.hasDropped || hasDied)) streams.lose(next.before);
      // SHD-12: what waited here for the shards below died with the instance before this one. The log has its messages, and to a shard
      // that is behind the room repeats what no log has: how many members there are, and how many type.
      if (next && hasDied) return this.#answer({ taken: 0, behind: next.before });
    }
    let taken = this.#next - first;
    for (const chunk of chunks.slice(taken)) {
      const isForThis = chunk.to === undefined || chunk.to === self;
      const items = isForThis ? (JSON.parse(chunk.items) as readonly EncodedItem[]) : [];
      // Connections that were let in have to be there before the next event, and before the shard counts as empty.
      if (!items.every(isOfConnects) || !this.#isNext(chunk)) await this.#entered();
      const follows = this.#follows(chunk);
      if (!follows && !this.#isPast(chunk)) return this.#answer({ taken, behind: members.replica.position! });
      if (follows && isForThis && members.replica.carryOut(chunk, items)) this.#isEntering = true;
      if (chunk.to !== self) streams.push(chunk);
      this.#next = first + ++taken;
    }
    return this.#answer({ taken });
  }

  #answer(answer: StreamAnswer): StreamAnswer {
    const { waiting } = this.#parts.streams;
    return waiting ? { ...answer, waiting } : answer;
  }

  async #entered(): Promise<void> {
    if (this.#isEntering) await this.#parts.giveWay();
    this.#isEntering = false;
  }

  /** A shard without members has nobody who could miss anything. */
  #follows(chunk: ShardChunk): boolean {
    return this.#isNext(chunk) || this.#parts.members.sockets.size === 0;
  }

  #isNext({ before }: ShardChunk): boolean {
    const { position } = this.#parts.members.replica;
    return !position || isSamePosition(position, before);
  }

  /** The shard is at the end of the chunk or beyond it: a sender that did not hear so, or its successor, sends it again. */
  #isPast({ after }: ShardChunk): boolean {
    const { epoch, by, seq, rev, ruling } = this.#parts.members.replica.position!;
    return epoch === after.epoch && by === after.by && seq >= after.seq && rev >= after.rev && ruling >= after.ruling;
  }
}

/** Decisions on CONNECTs, and what goes with them, need not wait for each other's connections. An item with bytes is still a text, and may be of any type. */
const isOfConnects = (item: EncodedItem): boolean =>
  typeof item === "object" && (item.type === "verdict" || item.type === "earlier");
