// Computes the positions of the rows of a long list, of which only those in view are in the document. Heights are estimates
// until measured. Pure numbers; the message list measures and scrolls.

export interface Range {
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
}

export class RowLayout {
  /** Where each row begins, and at the end where the last one ends; pixels. */
  readonly #tops: Float64Array;

  constructor(count: number, heightOf: (index: number) => number) {
    this.#tops = new Float64Array(count + 1);
    for (let index = 0; index < count; index++) this.#tops[index + 1] = this.#tops[index]! + heightOf(index);
  }

  get height(): number {
    return this.#tops.at(-1)!;
  }

  topOf(index: number): number {
    return this.#tops[index]!;
  }

  /** The row at this height; beyond the list, its first or last row. */
  at(y: number): number {
    let from = 0;
    let to = this.#tops.length - 2;
    while (from < to) {
      const middle = (from + to + 1) >> 1;
      if (this.#tops[middle]! <= y) from = middle;
      else to = middle - 1;
    }
    return Math.max(0, from);
  }

  /** The rows that touch a stretch of the list. */
  between(top: number, bottom: number): Range {
    if (this.#tops.length === 1) return { from: 0, to: 0 };
    return { from: this.at(top), to: this.at(bottom) + 1 };
  }
}
