// The part of a feature in the Worker: its calls of the HTTP API, the queues that it consumes, its gauges and its needs. Declared by
// features (src/features), and handed to parley.ts.
import type { Exposed } from "../metrics/exposition.ts";
import type { Bindings } from "../rpc/bindings.ts";
import type { ApiCall } from "./api/call.ts";
import type { Consuming } from "./deployment.ts";
import type { Needs } from "./mount.ts";
import type { Redelivery } from "./queue/relay-queues.ts";

/** Acks or retries each message of the batch; a message that gets neither counts as acked. */
type Consumer = (batch: MessageBatch, consuming: Consuming) => Promise<void>;

export interface ConsumedQueue {
  /** The end of its name, which also labels its backlog in `/metrics`. */
  readonly suffix: string;
  /** Bindings and settings of the deployment that fills the queue. Without any of them a queue with that suffix is the host's. */
  readonly signs: readonly string[];
  /** The binding that shows its backlog; absent: nothing shows it. */
  readonly binding?: string;
  /** Of a queue that features share: whether a message is for this one. Absent: it gets those that no other takes. */
  readonly takes?: (body: unknown) => boolean;
  readonly consume: Consumer;
}

export interface InWorker {
  readonly name: string;
  readonly http?: readonly ApiCall[];
  /** By their use in `queues` of createParley. */
  readonly queues?: Readonly<Record<string, ConsumedQueue>>;
  /** Gauges of `/metrics`, by family. One that fails leaves its families out. */
  readonly gauges?: (bindings: Bindings) => Promise<Exposed["gauges"]>;
  readonly needs?: Needs;
  /** The same, while the rest of the chat works: the Worker logs each line when it starts, once. */
  readonly warnings?: Needs;
  readonly deadLetters?: Redelivery;
  /** Parts that other features have, too: the Worker takes each once. */
  readonly shares?: readonly InWorker[];
}

/** The features, and after each the parts that it shares with others. */
export const withShared = (features: readonly InWorker[]): readonly InWorker[] => [
  ...new Set(features.flatMap((feature) => [feature, ...(feature.shares ?? [])])),
];
