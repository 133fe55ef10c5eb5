// A batch while it is being packed: as much as one message of the queue takes (RLY-2).
import { utf8ToBytes } from "@noble/hashes/utils.js";

import type { RelayBatch } from "../protocol/relay-batch.ts";

/** Messages and changes in one batch. */
export const RELAY_ITEMS_MAX = 100;

/** Bytes of these as JSON. The queue takes messages of 128,000. */
export const RELAY_BYTES_MAX = 100_000;

export class Packing {
  #items = 0;
  #bytes = 0;

  /** @returns whether there is room for it. The first one always finds some, however large it is */
  take(item: object): boolean {
    const bytes = bytesOf(item) + 1;
    if (this.#items > 0 && (this.#items === RELAY_ITEMS_MAX || this.#bytes + bytes > RELAY_BYTES_MAX)) return false;
    this.#items++;
    this.#bytes += bytes;
    return true;
  }
}

/** One message alone may be larger than what the queue takes. */
export function isTooLargeForQueue({ posts, changes }: RelayBatch): boolean {
  const isLarge = (item: object): boolean => bytesOf(item) > RELAY_BYTES_MAX;
  return posts.items.some(isLarge) || changes.items.some(isLarge);
}

const bytesOf = (item: object): number => utf8ToBytes(JSON.stringify(item)).length;
