// The result of a run, as data: what `--json` writes (docs/load.md), and report.ts shows. Called by all modes.
import type { Percentiles } from "./latencies.ts";

/** What a run does. All numbers of the scenarios and of the command line end up here. */
export interface Workload {
  readonly rooms: number;
  /** Spread evenly over the rooms. */
  readonly users: number;
  /** Shares of the users: with the dialect of Parley's own client, with long-polling, with a client library. */
  readonly own: number;
  readonly polling: number;
  readonly library: number;
  /** Whether those in the dialect of a stock client take the events of a turn in one. */
  readonly bundles?: boolean;
  readonly postsPerUserPerSecond: number;
  /** Whether only the first user of each room posts. */
  readonly isMonologue?: boolean;
  readonly payloadBytes: number;
  readonly connectsPerSecond: number;
  /** Of posting, before anything is measured. */
  readonly warmUpSeconds: number;
  /** Of posting that is measured. */
  readonly seconds: number;
  /** After that, while posting goes on: the connections of a share of the users break, and come back after so long. */
  readonly breaks?: { readonly share: number; readonly awayMs: number };
}

export interface SecondRow {
  /** Of the run; second 0 is the first connect. */
  readonly second: number;
  readonly connected: number;
  readonly posts: number;
  readonly acks: number;
  readonly deliveries: number;
  readonly errors: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  readonly ackP99Ms: number;
  /** Cores that the server used, and its memory, if its process is known. */
  readonly cores?: number;
  readonly residentBytes?: number;
  /** Cores that the machine's host gave to others. */
  readonly stolenCores: number;
}

export interface Faults {
  readonly lost: number;
  readonly doubled: number;
  readonly outOfOrder: number;
  /** Different messages at one place. */
  readonly disagreeing: number;
  /** Messages that were stored again. */
  readonly repeated: number;
  /** Messages of another room. */
  readonly strayed: number;
  /** Acked or shown, and not in the history at that place. */
  readonly absent: number;
  /** Rooms whose history could not be read. */
  readonly unread: number;
  /** Posts without an answer, although their member was connected all the time. */
  readonly unanswered: number;
}

export interface Reading {
  /** Rises when a field changes its meaning. */
  readonly format: 2;
  readonly startedAt: string;
  readonly server: string;
  readonly outcome: "clean" | "faults" | "incomplete" | "interrupted";
  readonly workload: Workload;
  readonly machine: { readonly cpu: string; readonly cores: number; readonly node: string; readonly platform: string };
  /** Seconds of the run. */
  readonly phases: {
    readonly connectedAt: number;
    readonly postingFrom: number;
    readonly postingTo: number;
    readonly finishedAt: number;
  };
  readonly connections: {
    readonly users: number;
    readonly in: number;
    readonly attempts: number;
    readonly failures: number;
    readonly drops: number;
    readonly returns: number;
    readonly recoveries: number;
    /** Members that had connected and were not connected at the end. */
    readonly away: number;
    /** Of the server, from the first connect until all are settled. */
    readonly serverCpuSeconds: number;
    /** The server's memory then, less its memory before. */
    readonly residentBytes: number;
  };
  readonly messages: {
    readonly posts: number;
    readonly acks: number;
    readonly refusals: number;
    readonly unsent: number;
    readonly unanswered: number;
    readonly deliveries: number;
  };
  /** The interval of `seconds` after the warm-up. */
  readonly measured: {
    readonly seconds: number;
    readonly posts: number;
    readonly deliveries: number;
    readonly pings: number;
    readonly serverCpuSeconds: number;
    readonly generatorBusy: number;
    readonly residentBytes: number;
  };
  readonly broken?: {
    readonly users: number;
    readonly recovered: number;
    /** From the moment at which they come back until all are in, and until they have all messages. */
    readonly backMs: number;
    readonly caughtUpMs: number;
    readonly serverCpuSeconds: number;
  };
  /** From the last post to the last delivery. */
  readonly drainMs: number;
  /** From the moment at which a post was due, whether or not it could go out then. */
  readonly latency: {
    readonly connect: Percentiles;
    readonly delivery: Percentiles;
    readonly ack: Percentiles;
    readonly generatorLate: Percentiles;
  };
  readonly deliveryCurve: ReadonlyArray<readonly [share: number, ms: number]>;
  readonly faults: Faults;
  /** Posted while a member was away and not recovered: no fault, but missed. */
  readonly missedAway: number;
  readonly history?: { readonly rooms: number; readonly messages: number; readonly problem?: string };
  readonly errors: Readonly<Record<string, number>>;
  /** Billable events between two looks at the server's metrics, with `--counts`. */
  readonly counted?: Readonly<Record<string, number>>;
  readonly rows: readonly SecondRow[];
}

export const faultsIn = ({ faults }: Pick<Reading, "faults">): number =>
  Object.values(faults).reduce((sum: number, count: number) => sum + count, 0);

/** A few connections that broke and came back cost a run no more of its posts. */
const UNACKED_SHARE_MAX = 0.01;

/** As far as it matters for the verdict. */
export interface Ran {
  readonly connections: Pick<Reading["connections"], "users" | "in" | "away">;
  readonly messages: Omit<Reading["messages"], "deliveries">;
}

/** What did not happen as asked, in words with numbers; nothing if the run was whole. */
export function shortfallsOf({ connections: { users, in: entered, away }, messages }: Ran): string[] {
  const { posts, acks, unsent, refusals, unanswered } = messages;
  const due = posts + unsent;
  return [
    ...(entered < users ? [`${users - entered} of ${users} users did not get in`] : []),
    ...(away > 0 ? [`${away} of ${entered} users were away at the end`] : []),
    ...(due - acks > UNACKED_SHARE_MAX * due
      ? [
          `${due - acks} of ${due} posts that were due have no ack (${unsent} not sent, ${refusals} refused, ${unanswered} unanswered)`,
        ]
      : []),
  ];
}

export function outcomeOf(reading: Ran & Pick<Reading, "faults">, isInterrupted: boolean): Reading["outcome"] {
  if (faultsIn(reading) > 0) return "faults";
  if (isInterrupted) return "interrupted";
  return shortfallsOf(reading).length > 0 ? "incomplete" : "clean";
}
