// Exact accounting: compares the messages that each member received with those sent and with those of the other members.

export interface Faults {
  /** Messages that a member never got. */
  readonly lost: number;
  /** Messages that a member got again. */
  readonly doubled: number;
  /** Messages that a member got after a later one of the same sender. */
  readonly outOfOrder: number;
  /** Messages that stand elsewhere in a member's sequence than in the reference's: so many would have to move. */
  readonly disagreeing: number;
  /** Messages that a member got and that were not posted in its room. */
  readonly strayed: number;
}

export const NO_FAULTS: Faults = { lost: 0, doubled: 0, outOfOrder: 0, disagreeing: 0, strayed: 0 };

/** A message by its number: the sender's index, and which of the sender's messages it is. */
const COUNTER_BITS = 18;
export const SENDER_MAX = 2 ** (32 - COUNTER_BITS) - 1;

export const codeOf = (sender: number, counter: number): number => ((sender << COUNTER_BITS) | counter) >>> 0;

/** The messages that one member received, in order. Grows without an object per message. */
export class Sequence {
  #codes = new Uint32Array(64);
  length = 0;

  push(code: number): void {
    if (this.length === this.#codes.length) {
      const wider = new Uint32Array(this.length * 2);
      wider.set(this.#codes);
      this.#codes = wider;
    }
    this.#codes[this.length++] = code;
  }

  get codes(): Uint32Array {
    return this.#codes.subarray(0, this.length);
  }
}

export function addFaults(a: Faults, b: Faults): Faults {
  return {
    lost: a.lost + b.lost,
    doubled: a.doubled + b.doubled,
    outOfOrder: a.outOfOrder + b.outOfOrder,
    disagreeing: a.disagreeing + b.disagreeing,
    strayed: a.strayed + b.strayed,
  };
}

/**
 * Holds the members of one room against each other.
 * @param sent the codes of all messages that the room took on; each member should have each of them once
 * @param members each member's sequence
 */
export function account(sent: ReadonlySet<number>, members: readonly Uint32Array[]): Faults {
  const reference = members.find((codes) => codes.length === sent.size) ?? members[0];
  if (reference === undefined) return NO_FAULTS;
  const places = new Map(Array.from(reference, (code, place) => [code, place] as const));
  const referenceFaults = faultsOf(reference, sent, places);
  let total = NO_FAULTS;
  for (const codes of members) {
    total = addFaults(total, isSame(codes, reference) ? referenceFaults : faultsOf(codes, sent, places));
  }
  return total;
}

function isSame(a: Uint32Array, b: Uint32Array): boolean {
  return a.length === b.length && a.every((code, index) => code === b[index]);
}

function faultsOf(codes: Uint32Array, sent: ReadonlySet<number>, places: ReadonlyMap<number, number>): Faults {
  const seen = new Set<number>();
  const newestOf = new Map<number, number>();
  const inReference: number[] = [];
  let outOfOrder = 0;
  for (const code of codes) {
    if (seen.has(code)) continue;
    seen.add(code);
    const sender = code >>> COUNTER_BITS;
    const newest = newestOf.get(sender) ?? -1;
    if (code < newest) outOfOrder++;
    else newestOf.set(sender, code);
    const place = places.get(code);
    if (place !== undefined) inReference.push(place);
  }
  let lost = 0;
  for (const code of sent) if (!seen.has(code)) lost++;
  const disagreeing = inReference.length - longestRise(inReference);
  const strayed = seen.size - (sent.size - lost);
  return { lost, doubled: codes.length - seen.size, outOfOrder, disagreeing, strayed };
}

/** The length of the longest rising subsequence: the rest is out of order. */
function longestRise(numbers: readonly number[]): number {
  // ends[n] is the smallest number that a rise of n + 1 can end with.
  const ends: number[] = [];
  for (const number of numbers) {
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (ends[middle]! < number) low = middle + 1;
      else high = middle;
    }
    ends[low] = number;
  }
  return ends.length;
}
