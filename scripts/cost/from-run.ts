// A load test's report as a basis for a bill: its workload, month-long, and how well the model predicts what was counted.
import type { LoadReport } from "../load/report.ts";
import type { Workload } from "./model.ts";
import { predict, type RunEvents } from "./run-model.ts";

const SECONDS_PER_MINUTE = 60;

/**
 * What the run says of a workload; the rest is as by default, or as asked for.
 * @throws Error where it says nothing, because nobody was there to post
 */
export function workloadOf({ asked, messages, connections, phases }: LoadReport): Partial<Workload> {
  const minutes = (phases.postingTo - phases.postingFrom) / SECONDS_PER_MINUTE;
  if (connections.in === 0 || minutes <= 0)
    throw new Error("There is no workload in this load test: nobody got in, or it ended before anybody posted.");
  return {
    users: connections.in,
    rooms: asked.rooms,
    messagesPerUserMinute: messages.acks / connections.in / minutes,
    shimShare: asked.shimShare,
    pollingShare: asked.pollingShare,
    payloadBytes: asked.payloadBytes,
  };
}

/** Of what was counted: a line that is no further off is predicted well. */
const CLOSE_SHARE = 0.05;
const FEW_EVENTS = 2;
const CHANCE_SPREADS = 3;

/** How well a line was predicted; where not closely, what explains it: too few to tell, or chance; or nothing. */
export type Fit = "close" | "few" | "chance" | "off";

export interface Agreement {
  readonly what: keyof RunEvents;
  readonly predicted: number;
  /** The standard deviation of what is predicted: what is up to chance. */
  readonly spread: number;
  readonly counted: number;
  readonly by: "server" | "clients";
  /** Of what was counted. */
  readonly deviation: number;
  readonly fit: Fit;
}

/** Lines that the model predicts of a run, beside what was counted: by the server where it tells, else by the clients. */
export function agreementOf(
  report: LoadReport,
  { flushWindowMs, pingIntervalSeconds }: Pick<Workload, "flushWindowMs" | "pingIntervalSeconds">,
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
    pingIntervalSeconds,
  });
  return (Object.keys(events) as Array<keyof RunEvents>).flatMap((what) => {
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
