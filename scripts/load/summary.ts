// Builds the report of a load test from its processes' reports. Pure.
import { Histogram } from "../measuring/statistics.ts";
import type { LoadArguments } from "./arguments.ts";
import type { Counted } from "./counted.ts";
import type { HistoryVerdict } from "./history-check.ts";
import type { Counts, Entries, FinalReport } from "./messages.ts";
import { faultsIn, type LoadReport } from "./report.ts";
import type { RoomIndex } from "./room-index.ts";
import { addSeqFaults, NO_SEQ_FAULTS } from "./delivery-check.ts";
import { percentilesOf, type Series } from "./series.ts";
import { shortfallsOf } from "./shortfall.ts";

export interface Told {
  readonly args: LoadArguments;
  readonly server: string;
  readonly startedAt: Date;
  readonly isInterrupted: boolean;
  readonly machine: LoadReport["machine"];
  readonly processes: number;
  readonly phases: LoadReport["phases"];
  readonly series: Series;
  readonly reports: readonly FinalReport[];
  readonly indexes: ReadonlyMap<string, RoomIndex>;
  readonly placed?: LoadReport["placed"];
  readonly history?: HistoryVerdict;
  readonly process?: LoadReport["process"];
  readonly stolen?: LoadReport["stolen"];
  readonly counted?: { readonly events: Counted; readonly askedAt: number };
}

export function summarize(told: Told): LoadReport {
  const { args, phases, series, reports, history } = told;
  const counts = sumCounts(reports.map((one) => one.counts));
  const postingSeconds = Math.max(0.001, phases.postingTo - phases.postingFrom);
  const { missedAway, ...seqFaults } = reports.map((one) => one.faults).reduce(addSeqFaults, NO_SEQ_FAULTS);
  const disagreeing = [...told.indexes.values()].reduce((sum, index) => sum + index.disagreeing, 0);
  const report: LoadReport = {
    format: 1,
    startedAt: told.startedAt.toISOString(),
    server: told.server,
    outcome: "clean",
    asked: askedOf(args, told.processes),
    machine: told.machine,
    phases,
    connections: {
      users: args.users,
      in: counts.connects,
      attempts: counts.connectAttempts,
      failures: counts.connectFailures,
      connect: percentilesOf(merged(reports.map(({ connect }) => connect))),
      drops: counts.drops,
      returns: counts.returns,
      recoveries: counts.recoveries,
      away: counts.away,
    },
    messages: {
      ...pick(counts, ["posts", "acks", "refusals", "unsent", "unanswered", "deliveries"]),
      postsPerSecond: counts.posts / postingSeconds,
      deliveriesPerSecond: counts.deliveries / postingSeconds,
    },
    latency: {
      delivery: percentilesOf(series.delivery),
      ack: percentilesOf(series.ack),
      generatorLate: percentilesOf(merged(reports.map(({ lag }) => lag))),
    },
    deliveryCurve: series.curve,
    faults: {
      ...seqFaults,
      disagreeing,
      strayed: counts.strayed,
      ackedAbsent: history?.ackedAbsent ?? 0,
      historiesUnread: history?.unread ?? 0,
      // An interrupted run does not wait for the last answers.
      unanswered: told.isInterrupted ? 0 : counts.ignored,
    },
    missedAway,
    ...(told.placed && { placed: told.placed }),
    ...(history && { history: pick(history, ["rooms", "messages", "problem"]) }),
    errors: sumErrors(reports),
    ...(told.process && { process: told.process }),
    ...(told.stolen && { stolen: told.stolen }),
    counted: {
      seconds: phases.finishedAt,
      clients: {
        posts: counts.acks,
        upgrades: counts.connects,
        ...pick(counts, ["framesIn", "heartbeats", "requests"]),
      },
      ...(told.counted && { server: told.counted.events, askedAt: told.counted.askedAt }),
    },
    seconds: series.rows,
  };
  return { ...report, outcome: outcomeOf(report, told.isInterrupted) };
}

function outcomeOf(report: LoadReport, isInterrupted: boolean): LoadReport["outcome"] {
  if (faultsIn(report) > 0) return "faults";
  if (isInterrupted) return "interrupted";
  return shortfallsOf(report).length > 0 ? "incomplete" : "clean";
}

function askedOf(args: LoadArguments, processes: number): LoadReport["asked"] {
  const names = ["users", "rooms", "shimShare", "pollingShare", "realShare", "pace"] as const;
  return { ...pick(args, [...names, "durationSeconds", "connectsPerSecond", "payloadBytes"]), processes };
}

function sumCounts(all: readonly Counts[]): Counts {
  const sum: Record<string, number> = {};
  for (const counts of all) {
    for (const [name, count] of Object.entries(counts) as Array<[string, number]>) sum[name] = (sum[name] ?? 0) + count;
  }
  return sum as unknown as Counts;
}

function sumErrors(reports: readonly FinalReport[]): Record<string, number> {
  const sum: Record<string, number> = {};
  for (const { errors } of reports) {
    for (const [what, count] of Object.entries(errors)) sum[what] = (sum[what] ?? 0) + count;
  }
  return sum;
}

function merged(all: readonly Entries[]): Histogram {
  const histogram = new Histogram();
  for (const entries of all) histogram.merge(entries);
  return histogram;
}

function pick<Whole extends object, Name extends keyof Whole>(whole: Whole, names: readonly Name[]): Pick<Whole, Name> {
  return Object.fromEntries(names.filter((name) => name in whole).map((name) => [name, whole[name]])) as Pick<
    Whole,
    Name
  >;
}
