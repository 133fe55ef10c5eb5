// The result of one run of one peer, and whether its numbers are valid.
import type { BigReading, Reading, TrafficReading } from "./load/job.ts";

/** Above this CPU share the generator itself may limit the run. */
const GENERATOR_BUSY_MAX = 0.9;
/** A server holds a rate if the outstanding deliveries arrive within this time, */
const DRAIN_MS_MAX = 1000;
/** if its p99 stays below this, */
const P99_MS_MAX = 1000;
/** and if the interval saw at least this share of the due deliveries. */
const SHARE_DELIVERED_MIN = 0.95;

export interface EmitsReading {
  readonly kind: "emits";
  readonly count: number;
  readonly wallSeconds: number;
  readonly serverCpuSeconds: number;
}

export type Verdict = "ok" | "not held" | "generator saturated" | "failed" | "skipped";

export interface Outcome {
  readonly run: string;
  readonly peer: string;
  readonly round: number;
  readonly verdict: Verdict;
  /** Of the offered rate, where rates are searched. */
  readonly rateShare: number;
  /** Why there is no number. */
  readonly reason?: string;
  readonly reading?: Reading | EmitsReading;
}

/** @returns the verdict, and the reason where it is not "ok" */
export function judge(reading: Reading): { verdict: Verdict; reason?: string } {
  const failures = Object.entries(reading.failures);
  if (reading.generatorBusy > GENERATOR_BUSY_MAX && reading.kind !== "idle") {
    return { verdict: "generator saturated", reason: `${percent(reading.generatorBusy)} of its core` };
  }
  if (reading.kind === "traffic" || reading.kind === "big") {
    const reason = whyNotHeld(reading);
    if (reason !== undefined) return { verdict: "not held", reason };
  }
  if (failures.length > 0) {
    return { verdict: "failed", reason: failures.map(([what, times]) => `${what} (${times}×)`).join("; ") };
  }
  return { verdict: "ok" };
}

function whyNotHeld(reading: TrafficReading | BigReading): string | undefined {
  const share = reading.deliveries / (reading.offeredPerSecond * reading.wallSeconds);
  // Of the few posts of a big room one that is under way at the end is more than that.
  if (reading.kind === "traffic" && share < SHARE_DELIVERED_MIN)
    return `${percent(share)} of the offered messages arrived in time`;
  if (reading.drainMs > DRAIN_MS_MAX) return `the last delivery came ${Math.round(reading.drainMs)} ms late`;
  if (reading.unanswered > 0) return `${reading.unanswered} posts were never acknowledged`;
  if (reading.p99Ms > P99_MS_MAX) return `p99 was ${Math.round(reading.p99Ms)} ms`;
  return undefined;
}

export const percent = (share: number): string => `${Math.round(share * 100)} %`;
