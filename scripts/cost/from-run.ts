// Derives a workload from a load test's report, extended to a month, and checks the model against the counters of that run.
import type { LoadReport } from "../load/report.ts";
import type { Workload } from "./model.ts";
import { predict, type RunEvents } from "./run-model.ts";

const SECONDS_PER_MINUTE = 60;

/**
 * The workload of the run; the other parameters are the defaults, or given.
 * @throws Error if no member posted
 */
export function workloadOf(run: LoadReport): Partial<Workload> {
  const { asked, messages, connections, phases, placed } = run;
  const minutes = (phases.postingTo - phases.postingFrom) / SECONDS_PER_MINUTE;
  if (connections.in === 0 || minutes <= 0)
    throw new Error("There is no workload in this load test: no user got in, or it ended before the first post.");
  return {
    users: connections.in,
    rooms: asked.rooms,
    messagesPerUserMinute: messages.acks / connections.in / minutes,
    shimShare: asked.shimShare,
    pollingShare: asked.pollingShare,
    payloadBytes: asked.payloadBytes,
    // A room that has shards is full.
    ...(placed && hasShards(run) && { maxMembers: placed.inRoom }),
  };
}

const hasShards = ({ placed }: Pick<LoadReport, "placed">): boolean => (placed?.inShards.length ?? 0) > 0;

/** Relative deviation up to which a line counts as predicted well. */
const CLOSE_SHARE = 0.05;
const FEW_EVENTS = 2;
const CHANCE_SPREADS = 3;

/** The quality of a prediction: close, or off with an explanation (too few events, or chance), or off without one. */
export type Fit = "close" | "few" | "chance" | "off";

export interface Agreement {
  readonly what: keyof RunEvents;
  readonly predicted: number;
  /** The standard deviation of the prediction. */
  readonly spread: number;
  readonly counted: number;
  readonly by: "server" | "clients";
  /** The relative deviation from the counter. */
  readonly deviation: number;
  readonly fit: Fit;
}

/** The lines that are the same with shards. Of alarms, reports and rows of shards the model knows upper bounds alone. */
const WITH_SHARDS: ReadonlySet<keyof RunEvents> = new Set(["posts", "commits", "upgrades", "framesIn", "heartbeats"]);

/** The lines that the model predicts, beside the counters: the server's where it has them, otherwise the clients'. */
export function agreementOf(
  report: LoadReport,
  {
    flushWindowMs,
    flushBurst,
    pingIntervalSeconds,
  }: Pick<Workload, "flushWindowMs" | "flushBurst" | "pingIntervalSeconds">,
): Agreement[] {
  const { asked, phases, counted, connections, messages } = report;
  const { connectedAt, postingFrom, postingTo, finishedAt } = phases;
  const { events, spread } = predict({
    connects: connections.in,
    rooms: asked.rooms,
    shimShare: asked.shimShare,
    pollingShare: asked.pollingShare,
    posts: messages.acks,
    connectedAt,
    postingFrom,
    postingTo,
    // Reports of earlier versions do not say when the server was asked.
    askedAt: counted.askedAt ?? finishedAt,
    flushWindowMs,
    flushBurst,
    pingIntervalSeconds,
  });
  const lines = (Object.keys(events) as Array<keyof RunEvents>).filter(
    (what) => !hasShards(report) || WITH_SHARDS.has(what),
  );
  return lines.flatMap((what) => {
    const byServer = counted.server?.[what];
    const byClients = what in counted.clients ? counted.clients[what as "posts"] : undefined;
    const value = byServer ?? byClients;
    if (value === undefined) return [];
    const by = byServer === undefined ? ("clients" as const) : ("server" as const);
    const predicted = events[what];
    const deviation = value === 0 ? (predicted === 0 ? 0 : Infinity) : (predicted - value) / value;
    const line = { what, predicted, spread: spread[what], counted: value, by, deviation };
    return [{ ...line, fit: fitOf(line) }];
  });
}

function fitOf({ predicted, spread, counted, deviation }: Omit<Agreement, "fit">): Fit {
  const off = Math.abs(predicted - counted);
  if (Math.abs(deviation) <= CLOSE_SHARE) return "close";
  if (off <= FEW_EVENTS) return "few";
  return off <= CHANCE_SPREADS * spread ? "chance" : "off";
}
