// Checks the deliveries to one member: `seq` rises by exactly one per message, so from the member's first place to the room's
// last every number is due once, in order.

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

export const NO_SEQ_FAULTS: SeqFaults = { lost: 0, doubled: 0, outOfOrder: 0, missedAway: 0 };

export function addSeqFaults(a: SeqFaults, b: SeqFaults): SeqFaults {
  return {
    lost: a.lost + b.lost,
    doubled: a.doubled + b.doubled,
    outOfOrder: a.outOfOrder + b.outOfOrder,
    missedAway: a.missedAway + b.missedAway,
  };
}

export class DeliveryCheck {
  /** The `seq` at which it joined; `undefined` where unknown. */
  #fromSeq: number | undefined;
  #highestSeq = 0;
  #seen = 0;
  #doubled = 0;
  #outOfOrder = 0;
  #missedAway = 0;
  /** Passed over and not seen yet. */
  readonly #gaps = new Set<number>();
  /** The lowest seen, where the first due `seq` is unknown. */
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

  /**
   * @param span the room's first `seq` of the run less one, for members without a known start, and its last one
   * @param isIn whether the member is still connected; one that left cannot receive later messages
   */
  faults({ baseSeq, lastSeq }: { baseSeq: number; lastSeq: number }, isIn: boolean): SeqFaults {
    const [atStart, atEnd] = [
      this.#missingAtStart(baseSeq),
      Math.max(0, lastSeq - Math.max(this.#highestSeq, baseSeq)),
    ];
    return {
      lost: this.#gaps.size + atStart + (isIn ? atEnd : 0),
      doubled: this.#doubled,
      outOfOrder: this.#outOfOrder,
      missedAway: this.#missedAway + (isIn ? 0 : atEnd),
    };
  }

  #missingAtStart(baseSeq: number): number {
    return this.#fromSeq !== undefined || this.#seen === 0 ? 0 : Math.max(0, this.#lowestSeq - baseSeq - 1);
  }
}
