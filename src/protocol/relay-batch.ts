// The batches that rooms pass on to each other, in the form in which they travel (RLY-1, RLY-2).
import type { AnnouncePart } from "./announcement.ts";
import type { RelayBatch } from "./schemas/relay-batch.ts";

export type * from "./schemas/relay-batch.ts";
export type * from "./schemas/relay.ts";

/** Names a link, as distinct from earlier links between the same rooms. */
export type LinkName = Pick<RelayBatch, "epoch" | "sinceSeq" | "linkedAtMs">;

/** The version of the form of batches. A change of what a field means needs another one. */
export const RELAY_VERSION = 1;

/** A room has the messages and changes up to here that another room passes on. */
export interface Reached {
  readonly seq: number;
  /** Of the log of the room that passes it on. */
  readonly life?: string;
  readonly rev: number;
}

export type RelayOutcome =
  /** `isThere`: the room itself has taken it, not a queue. */
  | { readonly ok: true; readonly isThere?: true }
  /** `isFinal`: another try would fail the same way. `reached`: the room misses all messages between there and the batch. */
  | { readonly ok: false; readonly isFinal: boolean; readonly reason: string; readonly reached?: Reached };

/** A batch that was given up. */
export interface DeadBatch {
  readonly batch: RelayBatch | AnnouncePart;
  readonly reason: string;
}
