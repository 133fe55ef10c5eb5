// Counts how far an announcement has come, with one bit per destination and per part, so that a delivery noted twice counts once
// (ANN-6). Used by the Announcements object.
import type { AnnounceNote, AnnounceProgress, AnnounceTotal } from "../../protocol/announcement.ts";

/** Bits in a word: JSON writes it as a short number. */
const WORD_BITS = 30;

/** The words of a set of small numbers. */
export type Bits = readonly number[];

/** The stored form. */
export interface AnnounceRecord {
  readonly id: string;
  /** The user id of the service. */
  readonly by: string;
  readonly at: number;
  readonly accepted: number;
  /** `null` while the list of rooms is being walked. */
  readonly parts: number | null;
  readonly reached: Bits;
  readonly failed: Bits;
  readonly over: Bits;
}

export function beginRecord(
  { id, by, at }: Pick<AnnounceRecord, "id" | "by" | "at">,
  accepted: number,
  parts: number | null,
): AnnounceRecord {
  return { id, by, at, accepted, parts, reached: [], failed: [], over: [] };
}

export function withNote(record: AnnounceRecord, { part, reached, failed, isOver }: AnnounceNote): AnnounceRecord {
  return {
    ...record,
    reached: withBits(record.reached, reached),
    failed: withBits(record.failed, failed),
    over: isOver ? withBits(record.over, [part]) : record.over,
  };
}

export const withTotal = (record: AnnounceRecord, { accepted, parts }: AnnounceTotal): AnnounceRecord => ({
  ...record,
  accepted,
  parts,
});

export function progressOf({ id, at, accepted, parts, reached, failed, over }: AnnounceRecord): AnnounceProgress {
  const done = parts !== null && countBits(over) >= parts;
  const delivered = countBits(reached);
  const lost = countBits(failed.map((word, i) => word & ~(reached[i] ?? 0)));
  return { id, at, accepted, delivered, absent: done ? accepted - delivered - lost : 0, failed: lost, done };
}

function withBits(bits: Bits, numbers: readonly number[]): Bits {
  if (numbers.length === 0) return bits;
  const words = [...bits];
  for (const number of numbers) {
    const place = Math.floor(number / WORD_BITS);
    while (words.length <= place) words.push(0);
    words[place]! |= 1 << (number % WORD_BITS);
  }
  return words;
}

function countBits(bits: Bits): number {
  let count = 0;
  for (let word of bits) for (; word !== 0; word &= word - 1) count++;
  return count;
}
