// Cuts a list to what goes into one answer. All answers about the log, a search or a list are cut here, so that none has more
// than a connection takes: a polling client would be closed for it (1013).
import { frameBytes } from "../../socketio/wire/engine-io.ts";

/**
 * Bytes of JSON that the list in one answer may have; a single item that is larger goes alone. A quarter of
 * POLL_QUEUE_BYTES_MAX.
 */
export const ANSWER_BYTES_MAX = 262_144;

interface Bounds {
  readonly bytesMax?: number;
  /** So many go in any case. */
  readonly countMin?: number;
}

/** As many items from the beginning as fit together. */
export function fitFirst<Item>(items: readonly Item[], bounds?: Bounds): readonly Item[] {
  return items.slice(0, countFitting(items, bounds));
}

/** As many items from the end as fit together. */
export function fitLast<Item>(items: readonly Item[], bounds?: Bounds): readonly Item[] {
  return items.slice(items.length - countFitting(items.toReversed(), bounds));
}

function countFitting(items: readonly unknown[], { bytesMax = ANSWER_BYTES_MAX, countMin = 1 }: Bounds = {}): number {
  let bytes = 2;
  const count = items.findIndex((item, at) => {
    bytes += jsonBytes(item) + (at === 0 ? 0 : 1);
    return at >= countMin && bytes > bytesMax;
  });
  return count === -1 ? items.length : count;
}

function jsonBytes(value: unknown): number {
  return frameBytes(JSON.stringify(value));
}
