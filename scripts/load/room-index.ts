// The message at each `seq` of one room, as acks and members reported it. Two different messages at one `seq` are a fault.

/** Of a message that is none of this run's, or was altered so that it looks like that. */
export const CODE_OF_OTHERS = -1;

/** For the way between processes: places with codes, in turn. */
export interface BookPage {
  readonly acked: readonly number[];
  readonly seen: readonly number[];
  /** Members that saw another message at a place than was known there, and acks of another. */
  readonly disagreeing: number;
}

export class RoomIndex {
  readonly #acked = new Map<number, number>();
  readonly #seen = new Map<number, number>();
  #disagreeing = 0;

  /** The server acked this message with this seq. */
  ack(seq: number, code: number): void {
    const known = this.#acked.get(seq);
    if (known === undefined) this.#acked.set(seq, code);
    // One of two messages has lost its place, and no other check would notice.
    else if (known !== code) this.#disagreeing++;
  }

  see(seq: number, code: number): void {
    const known = this.#seen.get(seq);
    if (known === undefined) this.#seen.set(seq, code);
    else if (known !== code) this.#disagreeing++;
  }

  get acked(): ReadonlyMap<number, number> {
    return this.#acked;
  }

  get lastSeq(): number {
    return Math.max(largest(this.#acked), largest(this.#seen));
  }

  /** The place before the first one. */
  get baseSeq(): number {
    const first = Math.min(smallest(this.#acked), smallest(this.#seen));
    return Number.isFinite(first) ? first - 1 : 0;
  }

  /** Places at which the ack named another message than members saw. */
  get disagreeing(): number {
    let count = this.#disagreeing;
    for (const [seq, code] of this.#acked) {
      const seen = this.#seen.get(seq);
      if (seen !== undefined && seen !== code) count++;
    }
    return count;
  }

  get page(): BookPage {
    return { acked: [...this.#acked].flat(), seen: [...this.#seen].flat(), disagreeing: this.#disagreeing };
  }

  merge({ acked, seen, disagreeing }: BookPage): void {
    this.#disagreeing += disagreeing;
    for (let i = 0; i < acked.length; i += 2) this.ack(acked[i]!, acked[i + 1]!);
    for (let i = 0; i < seen.length; i += 2) this.see(seen[i]!, seen[i + 1]!);
  }
}

function largest(places: ReadonlyMap<number, number>): number {
  let found = 0;
  for (const seq of places.keys()) found = Math.max(found, seq);
  return found;
}

function smallest(places: ReadonlyMap<number, number>): number {
  let found = Infinity;
  for (const seq of places.keys()) found = Math.min(found, seq);
  return found;
}
