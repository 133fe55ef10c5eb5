// Packs items into chunks of the size of a queue message: batches of links (RLY-2) and parts of announcements (ANN-5).
import { utf8ToBytes } from "@noble/hashes/utils.js";

import type { RelayBatch } from "../protocol/relay-batch.ts";

/** Messages and changes in one batch. */
export const RELAY_ITEMS_MAX = 100;

/** Bytes of these as JSON. The queue takes messages of 128,000. */
export const RELAY_BYTES_MAX = 100_000;

export const bytesOf = (value: unknown): number => utf8ToBytes(JSON.stringify(value)).length;

/** The bounds of one chunk. */
export interface Space<Item> {
  readonly itemsMax?: number;
  readonly bytesMax?: number;
  readonly bytesOf?: (item: Item) => number;
}

/** Fills one chunk, item by item. */
export class Packing<Item extends object = object> {
  readonly #space: Required<Space<Item>>;
  #items = 0;
  #bytes = 0;
  /** Whether an item did not fit. */
  isFull = false;

  constructor(space: Space<Item>) {
    this.#space = { itemsMax: Infinity, bytesMax: Infinity, bytesOf: (item) => bytesOf(item) + 1, ...space };
  }

  /** @returns whether the item fits. The first one does, however large it is; after one that does not, none does */
  take(item: Item): boolean {
    const { itemsMax, bytesMax, bytesOf } = this.#space;
    const bytes = bytesMax === Infinity ? 0 : bytesOf(item);
    this.isFull ||= this.#items > 0 && (this.#items === itemsMax || this.#bytes + bytes > bytesMax);
    if (this.isFull) return false;
    this.#items++;
    this.#bytes += bytes;
    return true;
  }
}

/** Splits items into as few chunks as possible, in their order. */
export function inChunks<Item extends object>(items: readonly Item[], space: Space<Item>): Item[][] {
  const chunks: Item[][] = [];
  let packing: Packing<Item> | undefined;
  for (const item of items) {
    if (!packing?.take(item)) {
      packing = new Packing(space);
      packing.take(item);
      chunks.push([]);
    }
    chunks.at(-1)!.push(item);
  }
  return chunks;
}

/** One message alone may be larger than the queue takes. */
export function isTooLargeForQueue({ posts, changes }: RelayBatch): boolean {
  const isLarge = (item: object): boolean => bytesOf(item) > RELAY_BYTES_MAX;
  return posts.items.some(isLarge) || changes.items.some(isLarge);
}
