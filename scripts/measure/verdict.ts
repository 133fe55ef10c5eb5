// The verdict on a run of the bench, and the search for the highest rate that a server holds. Pure. Called by bench.ts.
import type { Reading } from "./reading.ts";

/** Above this CPU share the generator itself may limit the run. */
const GENERATOR_BUSY_MAX = 0.9;
/** A server holds a rate only if the deliveries that are outstanding at the end arrive within this time. */
const DRAIN_MS_MAX = 1000;
/** A server holds a rate only if its p99 stays below this. */
const P99_MS_MAX = 1000;
/** A server holds a rate only if the interval saw at least this share of the due deliveries. */
const SHARE_DELIVERED_MIN = 0.95;
/** Shares of the offered rate that are tried. */
const SHARES: readonly number[] = [1, 0.7, 0.5, 0.35, 0.25, 0.17, 0.12, 0.08, 0.05];

export type Verdict = "ok" | "not held" | "generator saturated" | "failed";

export interface Outcome {
  readonly run: string;
  readonly peer: string;
  readonly round: number;
  readonly verdict: Verdict;
  /** Of the offered rate. */
  readonly rateShare: number;
  /** Why there is no number. */
  readonly reason?: string;
  readonly reading?: Reading;
}

/**
 * @param searchesRate whether a server may fail to hold the offered rate, and is then tried at a lower one
 * @returns the verdict, and the reason if it is not "ok"
 */
export function judge(reading: Reading, searchesRate: boolean): Pick<Outcome, "verdict" | "reason"> {
  const { measured, workload, connections, messages } = reading;
  const failed = (reason: string) => ({ verdict: "failed", reason }) as const;
  if (measured.generatorBusy > GENERATOR_BUSY_MAX)
    return { verdict: "generator saturated", reason: `${percent(measured.generatorBusy)} of its core` };
  if (connections.in < workload.users) return failed(`${workload.users - connections.in} members did not get in`);
  const reason = searchesRate ? whyNotHeld(reading) : undefined;
  if (reason !== undefined) return { verdict: "not held", reason };
  if (messages.refusals > 0 || (connections.drops > 0 && !workload.breaks))
    return failed(`${messages.refusals} posts were refused, ${connections.drops} connections dropped`);
  return { verdict: "ok" };
}

function whyNotHeld({ measured, workload, messages, drainMs, latency }: Reading): string | undefined {
  const share = measured.deliveries / ((measured.posts * workload.users) / workload.rooms);
  if (share < SHARE_DELIVERED_MIN) return `${percent(share)} of the offered messages arrived in time`;
  if (drainMs > DRAIN_MS_MAX) return `the last delivery came ${Math.round(drainMs)} ms late`;
  if (messages.unanswered > 0) return `${messages.unanswered} posts were never acknowledged`;
  if (latency.delivery.p99Ms > P99_MS_MAX) return `p99 was ${Math.round(latency.delivery.p99Ms)} ms`;
  return undefined;
}

export const percent = (share: number): string => `${Math.round(share * 100)} %`;

/** @param held the share of the round before; this one starts a step above it, so that one slow moment does not decide all rounds */
export function firstShare(held: number | undefined): number {
  return SHARES.findLast((share) => share > (held ?? 1)) ?? 1;
}

/**
 * The next share to try: the one that got through, if a server was flooded, and at least one step down.
 * @returns `undefined` if the search is over
 */
export function nextShare({ verdict, rateShare, reading }: Pick<Outcome, "verdict" | "rateShare" | "reading">) {
  if ((verdict !== "not held" && verdict !== "generator saturated") || !reading) return undefined;
  const { measured, workload } = reading;
  const lower = SHARES.filter((share) => share < rateShare);
  const through = (rateShare * measured.deliveries) / ((measured.posts * workload.users) / workload.rooms);
  return lower.findLast((share) => share >= through) ?? lower[0];
}
