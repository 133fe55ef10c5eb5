// The plan of one run, as data: the clients, their actions, and the faults. draw-plan.ts draws one from a seed; a shrunk plan leaves parts
// out. run.ts carries it out.
import type { Fault as KitFault } from "../kit/simulation.ts";
import type { Curating } from "./curation.ts";

export type ClientKind = "websocket" | "polling" | "upgrading" | "shim";

export interface PlannedClient {
  readonly name: string;
  readonly user: string;
  readonly room: string;
  readonly kind: ClientKind;
  readonly joinsAtMs: number;
  /** Of a stock client: whether it asks for recovery. */
  readonly recovers: boolean;
  /** Of a stock client: whether it takes the events of a turn in one. */
  readonly bundles?: true;
  /** Of a stock client: its way to get posts through. */
  readonly insists: "not" | "again" | "retries";
  /** How long its tokens hold; absent: for long. */
  readonly ttlSeconds?: number;
  readonly latencyMs: readonly [min: number, max: number];
}

export type At<What> = What & { readonly atMs: number };

export type Step = At<
  | { readonly do: "say"; readonly who: string; readonly times: number }
  /** Now and then a word, so that the room is busy. */
  | { readonly do: "talk"; readonly who: string; readonly times: number }
  | { readonly do: "ask"; readonly who: string; readonly event: string; readonly payload: object }
  /** How far it has read: so many messages before the newest it has seen. */
  | { readonly do: "read"; readonly who: string; readonly back: number }
  | { readonly do: "change"; readonly who: string; readonly event: "edit-message" | "delete-message" | "react" }
  /** It attends to counts for a while. */
  | { readonly do: "look-away"; readonly who: string; readonly forMs: number }
  | { readonly do: "leave"; readonly who: string; readonly forMs: number }
  | { readonly do: "reload"; readonly who: string; readonly forMs: number }
  | { readonly do: "post"; readonly room: string; readonly times: number; readonly length?: number }
  | { readonly do: "moderate"; readonly room: string; readonly event: string; readonly payload: object }
  | Curating
>;

/**
 * What happens to calls between a room and its shards. `late`: they fail, and arrive later all the same; `away`: none of the room arrives,
 * while those of its shards do.
 */
export type CallTrouble = "fail" | "late" | "twice" | "slow" | "away";

/** `room` may be the name of a shard. */
export type Fault =
  | KitFault
  | At<
      | { readonly fault: "old-offset"; readonly who: string; readonly back: number }
      | { readonly fault: "foreign-offset"; readonly who: string }
      | { readonly fault: "drain"; readonly room: string; readonly withinMs: number }
      | { readonly fault: "delete"; readonly room: string }
      | { readonly fault: "shard-calls"; readonly room: string; readonly how: CallTrouble; readonly forMs: number }
    >;

export interface ShardSettings {
  readonly maxMembers: number;
  readonly maxShards: number;
  readonly fanOut: number;
}

export interface Plan {
  readonly seed: number;
  /** The seed of latencies and ids, which a plan leaves open. Absent: `seed`. */
  readonly luck?: number;
  /** Which of the planted bugs is there, where all stand behind switches (planted-switches.ts). */
  readonly plantedBug?: number;
  readonly durability: "strict" | "relaxed";
  readonly relay: "queue" | "direct";
  readonly rooms: readonly string[];
  readonly links: ReadonlyArray<readonly [from: string, to: string]>;
  readonly sleepAfterMs: number;
  readonly commitMs: readonly [min: number, max: number];
  readonly flushWindowMs: number;
  readonly messageRate: number;
  readonly recoveryWindowSeconds: number;
  /** Present where the rooms have rules of their own. */
  readonly rules?: { readonly onFailure: "refuse" | "accept" };
  /** Whether the rooms have pins and reports of abuse. */
  readonly hasFeatures?: boolean;
  /** Present where one object holds few of a room's connections, and shards the others. */
  readonly shards?: ShardSettings;
  /** Messages that a room shows in a second; absent: all. Each room is a crowd then. */
  readonly shownRate?: number;
  readonly durationMs: number;
  readonly clients: readonly PlannedClient[];
  readonly steps: readonly Step[];
  readonly faults: readonly Fault[];
}
