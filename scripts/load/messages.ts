// The messages between the processes of a load test.
import type { BookPage } from "./room-index.ts";
import type { ClientSlot, Where } from "./client-slot.ts";
import type { SeqFaults } from "./delivery-check.ts";

/** A histogram on its way: buckets with counts. */
export type Entries = ReadonlyArray<readonly [bucket: number, count: number]>;

export type Pace =
  /** Each user posts so often on average, at moments of its own, whether or not the server keeps up. */
  | { readonly kind: "rate"; readonly perUserPerSecond: number }
  /** Each user waits for its answer, thinks for so long, and posts again. */
  | { readonly kind: "think"; readonly minSeconds: number; readonly maxSeconds: number };

export interface Plan {
  readonly where: Where;
  readonly run: string;
  readonly payloadBytes: number;
  /** Of this process alone. */
  readonly seats: readonly ClientSlot[];
  readonly connectsPerSecond: number;
  /** The run's second 0. */
  readonly startUs: number;
}

export type Order =
  | { readonly kind: "connect"; readonly plan: Plan }
  | { readonly kind: "post"; readonly pace: Pace }
  /** No more posts; say where the rooms stand once all answers are there, or after so long. */
  | { readonly kind: "stop"; readonly waitMs: number }
  /** Wait until all clients have everything, or so long, and report. */
  | { readonly kind: "finish"; readonly waitMs: number; readonly spans: Readonly<Record<string, Span>> };

/** Of a room: the place before the run's first message, and that of its last. */
export interface Span {
  readonly baseSeq: number;
  readonly lastSeq: number;
}

export interface SecondReport {
  readonly second: number;
  readonly posts: number;
  readonly acks: number;
  readonly deliveries: number;
  readonly errors: number;
  readonly delivery: Entries;
  readonly ack: Entries;
}

export interface Counts {
  readonly connectAttempts: number;
  readonly connectFailures: number;
  readonly connects: number;
  readonly posts: number;
  /** Due while their user was away. */
  readonly unsent: number;
  readonly acks: number;
  readonly refusals: number;
  readonly deliveries: number;
  readonly strayed: number;
  readonly drops: number;
  readonly returns: number;
  readonly recoveries: number;
  /** Heartbeats, which a room does not hear, not among them. */
  readonly framesIn: number;
  readonly heartbeats: number;
  readonly requests: number;
  readonly unanswered: number;
  /** Those of them whose member was connected all the time. */
  readonly ignored: number;
  /** Members that had connected and were not connected at the end. */
  readonly away: number;
}

export interface FinalReport {
  readonly counts: Counts;
  readonly faults: SeqFaults;
  readonly errors: Readonly<Record<string, number>>;
  readonly connect: Entries;
  readonly lag: Entries;
  readonly indexes: Readonly<Record<string, BookPage>>;
}

export type Told =
  | { readonly kind: "tick"; readonly connected: number; readonly seconds: readonly SecondReport[] }
  | { readonly kind: "connected" }
  | { readonly kind: "stopped"; readonly spans: Readonly<Record<string, Span>> }
  | { readonly kind: "finished"; readonly report: FinalReport };
