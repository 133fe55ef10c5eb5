// The account of deliveries. In a room `seq` rises by exactly one per message. So a room owes a member every number from the member's first
// `seq` to the room's last, once and in order, and all members and acks must name the same message for a `seq`. Called by tally.ts and history.ts.

export interface SeqFaults {
  /** Due, and never seen. */
  readonly lost: number;
  /** Seen again. */
  readonly doubled: number;
  /** Seen after a later one. */
  readonly outOfOrder: number;
  /** Posted while the member was away, and not replayed on its return: no promise covers them. */
  readonly missedAway: number;
}

/** Of a room: the place before the run's first message, and that of its last. */
export interface Span {
  readonly baseSeq: number;
  readonly lastSeq: number;
}

/** The account of one member. */
export class Deliveries {
  /** The `seq` at which it joined; `undefined` if unknown. */
  #fromSeq: number | undefined;
  #highestSeq = 0;
  #seen = 0;
  #doubled = 0;
  #outOfOrder = 0;
  #missedAway = 0;
  /** Passed over and not seen yet. */
  readonly #gaps = new Set<number>();
  /** The lowest seen, if the first due `seq` is unknown. */
  #lowestSeq = Infinity;

  /** The room's last seq when the member connected, or reconnected without recovery. */
  enter(lastSeq: number): void {
    if (this.#fromSeq === undefined) {
      this.#fromSeq = lastSeq;
      if (this.#seen === 0) this.#highestSeq = lastSeq;
    } else if (lastSeq > this.#highestSeq) {
      this.#missedAway += lastSeq - this.#highestSeq;
      this.#highestSeq = lastSeq;
    }
  }

  see(seq: number): void {
    if (this.#fromSeq === undefined && this.#seen === 0) this.#highestSeq = seq - 1;
    this.#seen++;
    this.#lowestSeq = Math.min(this.#lowestSeq, seq);
    if (seq > this.#highestSeq) {
      for (let missing = this.#highestSeq + 1; missing < seq; missing++) this.#gaps.add(missing);
      this.#highestSeq = seq;
    } else if (this.#gaps.delete(seq)) this.#outOfOrder++;
    else this.#doubled++;
  }

  /** Whether everything up to that place was seen. */
  isCompleteTo(lastSeq: number): boolean {
    return this.#gaps.size === 0 && this.#highestSeq >= lastSeq;
  }

  /** @param isIn whether the member is still connected; one that left cannot receive later messages */
  faults({ baseSeq, lastSeq }: Span, isIn: boolean): SeqFaults {
    const isStartKnown = this.#fromSeq !== undefined || this.#seen === 0;
    const atStart = isStartKnown ? 0 : Math.max(0, this.#lowestSeq - baseSeq - 1);
    const atEnd = Math.max(0, lastSeq - Math.max(this.#highestSeq, baseSeq));
    return {
      lost: this.#gaps.size + atStart + (isIn ? atEnd : 0),
      doubled: this.#doubled,
      outOfOrder: this.#outOfOrder,
      missedAway: this.#missedAway + (isIn ? 0 : atEnd),
    };
  }
}

/** Of a message that is none of this run's, or was altered so that it looks like that. */
export const CODE_OF_OTHERS = -1;

/** The account of one room: the message at each place, by acks and by the messages that members were shown. */
export class Places {
  readonly acked = new Map<number, number>();
  readonly shown = new Map<number, number>();
  #disagreeing = 0;

  /** The server acked this message with this seq. */
  ack(seq: number, code: number): void {
    this.#note(this.acked, seq, code);
  }

  show(seq: number, code: number): void {
    this.#note(this.shown, seq, code);
  }

  #note(places: Map<number, number>, seq: number, code: number): void {
    const known = places.get(seq);
    if (known === undefined) places.set(seq, code);
    // One of two messages has lost its place, and no other check would notice.
    else if (known !== code) this.#disagreeing++;
  }

  get span(): Span {
    let [first, last] = [Infinity, 0];
    for (const places of [this.acked, this.shown])
      for (const seq of places.keys()) [first, last] = [Math.min(first, seq), Math.max(last, seq)];
    return { baseSeq: Number.isFinite(first) ? first - 1 : 0, lastSeq: last };
  }

  /** Different messages that were named for one place. */
  get disagreeing(): number {
    const isOther = ([seq, code]: [number, number]): boolean => (this.shown.get(seq) ?? code) !== code;
    return this.#disagreeing + [...this.acked].filter(isOther).length;
  }

  /** Messages that took another place besides their first one: the room stored them again. */
  get repeated(): number {
    const codes = [...new Map([...this.acked, ...this.shown]).values()].filter((code) => code !== CODE_OF_OTHERS);
    return codes.length - new Set(codes).size;
  }

  /** @param stored the room's history. @returns acked and shown messages that are not in it at their place */
  absentIn(stored: ReadonlyMap<number, number>): number {
    const named = [...new Map([...this.shown, ...this.acked])];
    return named.filter(([seq, code]) => stored.get(seq) !== code).length;
  }
}
