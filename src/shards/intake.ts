// Takes the pieces that a shard gets, each once and in order, has them carried out, and passes them on to the shards below it. A piece that
// does not follow on the place of the shard is refused, and the sender mends the gap. Called by durable/room-shard.ts.
import { isSamePlace, type FeedAnswer, type FeedCall, type ShardPiece } from "../protocol/shards.ts";
import type { Audience } from "./audience.ts";
import type { Feeds } from "./feeds.ts";
import type { EncodedItem } from "./follower.ts";

export interface IntakeParts {
  /** The number of the shard. */
  readonly self: number;
  readonly audience: Audience;
  /** Of the shards below it. */
  readonly feeds: Feeds;
  /** Resolves once all other waiting work has had its turn. */
  readonly giveWay: () => Promise<void>;
}

/** Former lives whose calls may still arrive. */
const FORMER_MAX = 8;

export class Intake {
  readonly #parts: IntakeParts;
  #life: string | undefined;
  #former: readonly string[] = [];
  /** The number of the last call. */
  #call = 0;
  /** The number of the next piece. */
  #next = 0;
  /** The connections of members who were let in may not be there yet. */
  #isEntering = false;
  #last: Promise<unknown> = Promise.resolve();

  constructor(parts: IntakeParts) {
    this.#parts = parts;
  }

  /** One call after another: a sender that got no answer calls again while its first call may be under way. */
  take(call: FeedCall): Promise<FeedAnswer> {
    const taking = this.#last.then(() => this.#take(call));
    this.#last = taking.catch(() => {});
    return taking;
  }

  async #take({ life, call, first, pieces, below, ...lost }: FeedCall): Promise<FeedAnswer> {
    const { self, audience, feeds } = this.#parts;
    const isVoid = life === this.#life ? call <= this.#call : this.#former.includes(life);
    if (isVoid) return { taken: 0, isVoid };
    this.#call = call;
    feeds.reach(below);
    if (life !== this.#life) {
      const isFirst = this.#life === undefined;
      if (!isFirst) this.#former = [...this.#former, this.#life!].slice(-FORMER_MAX);
      this.#life = life;
      this.#next = first;
      if (lost.hasDropped) audience.follower.loseAnswers();
      const [next] = pieces;
      const hasDied = isFirst && lost.hasWaiting;
      if (next && (lost.hasDropped || hasDied)) feeds.lose(next.before);
      // With what waited here counts were lost, which are in no log: the room tells them again to those who ask what they missed.
      if (next && hasDied) return this.#answer({ taken: 0, behind: next.before });
    }
    let taken = this.#next - first;
    for (const piece of pieces.slice(taken)) {
      const isForThis = piece.to === undefined || piece.to === self;
      const items = isForThis ? (JSON.parse(piece.items) as readonly EncodedItem[]) : [];
      // Connections that were let in have to be there before the next event, and before the shard counts as empty.
      if (!items.every(isOfConnects) || !this.#isNext(piece)) await this.#entered();
      const follows = this.#follows(piece);
      if (!follows && !this.#isPast(piece)) return this.#answer({ taken, behind: audience.follower.place! });
      if (follows && isForThis && audience.follower.carryOut(piece, items)) this.#isEntering = true;
      if (piece.to !== self) feeds.push(piece);
      this.#next = first + ++taken;
    }
    return this.#answer({ taken });
  }

  #answer(answer: FeedAnswer): FeedAnswer {
    const { waiting } = this.#parts.feeds;
    return waiting ? { ...answer, waiting } : answer;
  }

  async #entered(): Promise<void> {
    if (this.#isEntering) await this.#parts.giveWay();
    this.#isEntering = false;
  }

  /** A shard without members has nobody who could miss anything. */
  #follows(piece: ShardPiece): boolean {
    return this.#isNext(piece) || this.#parts.audience.sockets.size === 0;
  }

  #isNext({ before }: ShardPiece): boolean {
    const { place } = this.#parts.audience.follower;
    return !place || isSamePlace(place, before);
  }

  /** Its sender died before it could say that the shard has taken it, and another instance sends it again. */
  #isPast({ after }: ShardPiece): boolean {
    const { epoch, by, seq, rev, ruling } = this.#parts.audience.follower.place!;
    return epoch === after.epoch && by === after.by && seq >= after.seq && rev >= after.rev && ruling >= after.ruling;
  }
}

/** Verdicts on CONNECTs, and what goes with them, need not wait for each other's connections. A text is one of bytes, and may be anything. */
const isOfConnects = (item: EncodedItem): boolean =>
  typeof item === "object" && (item.type === "verdict" || item.type === "earlier");
