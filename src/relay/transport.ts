// The interface of a transport, which carries batches of links and parts of announcements to their rooms: a queue, or direct calls.
// Implemented by rpc/transport.ts.
import type { AnnounceItem } from "../protocol/announcement.ts";
import type { RelayBatch, RelayOutcome } from "../protocol/relay-batch.ts";

/** The part that the links of a room use (RLY-2). */
export interface LinkTransport {
  /** A busy room gathers messages for this long before it sends a batch. */
  readonly windowMs: number;
  /** Rejects if neither the queue nor the other room has taken the batch. */
  readonly sendBatch: (batch: RelayBatch) => Promise<RelayOutcome>;
}

export interface Transport extends LinkTransport {
  /** Sends parts of announcements (ANN-5). Resolves once they are stored where no crash can lose them. */
  readonly sendItems: (items: readonly AnnounceItem[], delaySeconds: number) => Promise<void>;
}
