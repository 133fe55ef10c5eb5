// A steady rate: each member posts once per period at a moment of its own, whether or not the server keeps up.
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";

import { Histogram } from "../../measuring/statistics.ts";
import { gather, type Gathering } from "./crowd.ts";
import type { ServerFacts, TrafficJob, TrafficReading } from "./job.ts";
import type { Member } from "./member.ts";
import { Meter } from "./meter.ts";

const TICK_MS = 1;
const US_PER_MS = 1000;
/** Presence events and other work of the connects are over after this time. */
const SETTLE_MS = 1500;
/** A server that has not delivered everything by then did not hold the rate, or has lost something. */
const DRAIN_MS_MAX = 5000;
const DRAIN_POLL_MS = 50;

export async function runTraffic(server: ServerFacts, job: TrafficJob): Promise<TrafficReading> {
  return { kind: "traffic", ...(await measureTraffic(server, job)) };
}

/** @param after called while posting goes on, once everything but the faults is measured */
export async function measureTraffic(
  server: ServerFacts,
  job: Omit<TrafficJob, "kind">,
  after: (gathering: Gathering, posting: Posting) => Promise<void> = async () => {},
): Promise<Omit<TrafficReading, "kind">> {
  const meter = new Meter(server.pids);
  const bytesBefore = meter.residentBytes();
  const gathering = await gather(server, job);
  await sleep(SETTLE_MS);
  const connectCpuSeconds = meter.read().serverCpuSeconds;
  const connectedBytes = meter.residentBytes() - bytesBefore;
  const posting = new Posting(gathering.members, job.perMemberPerSecond, job.isEven);
  posting.start();
  await sleep(job.warmUpSeconds * 1000);
  meter.start();
  const [deliveredBefore, postedBefore] = [gathering.deliveries, posting.posted];
  const fromUs = gathering.now();
  gathering.measure(fromUs, fromUs + job.seconds * 1000 * US_PER_MS);
  await sleep(job.seconds * 1000);
  const cost = meter.read();
  const deliveries = gathering.deliveries - deliveredBefore;
  const measured = gathering.latencies;
  const postedMeanwhile = posting.posted - postedBefore;
  await after(gathering, posting);
  posting.stop();
  const drainMs = await drain(gathering, posting.posted * job.membersPerRoom);
  return {
    ...cost,
    deliveries,
    connectCpuSeconds,
    connectedBytes,
    members: gathering.members.length,
    offeredPerSecond: (postedMeanwhile * job.membersPerRoom) / cost.wallSeconds,
    posted: posting.posted,
    unanswered: unanswered(gathering),
    faults: gathering.faults(),
    ...percentiles({ latencies: measured, ackLatencies: gathering.ackLatencies }),
    drainMs,
    lagP99Ms: posting.lagsUs.percentile(0.99) / US_PER_MS,
    failures: gathering.failures,
  };
}

function percentiles({ latencies, ackLatencies }: Pick<Gathering, "latencies" | "ackLatencies">) {
  return {
    p50Ms: latencies.percentile(0.5) / US_PER_MS,
    p95Ms: latencies.percentile(0.95) / US_PER_MS,
    p99Ms: latencies.percentile(0.99) / US_PER_MS,
    ackP50Ms: ackLatencies.percentile(0.5) / US_PER_MS,
    ackP99Ms: ackLatencies.percentile(0.99) / US_PER_MS,
  };
}

function unanswered({ members }: Gathering): number {
  return members.reduce((sum, member) => sum + member.unanswered, 0);
}

/** @returns milliseconds from now to the last delivery, at least 0 */
async function drain(gathering: Gathering, due: number): Promise<number> {
  const startedMs = performance.now();
  const isDone = (): boolean => gathering.deliveries >= due && unanswered(gathering) === 0;
  while (!isDone() && performance.now() - startedMs < DRAIN_MS_MAX) await sleep(DRAIN_POLL_MS);
  return Math.max(0, gathering.lastDeliveryUs / US_PER_MS - startedMs);
}

/**
 * The order of posts: members take turns in one fixed order, at moments spread at random over the period; or evenly, each at some moment of
 * its own part of the period.
 */
export class Posting {
  readonly lagsUs = new Histogram();
  posted = 0;
  /** Members that do not post when it is their turn. */
  silent: ReadonlySet<Member> = new Set();
  #turn = 0;
  readonly #turns: ReadonlyArray<{ readonly member: Member; readonly phaseMs: number }>;
  readonly #periodMs: number;
  #timer: NodeJS.Timeout | undefined;
  #startedMs = 0;

  constructor(members: readonly Member[], perMemberPerSecond: number, isEven = false) {
    this.#periodMs = 1000 / perMemberPerSecond;
    const atRandom = members
      .map((member) => ({ member, phaseMs: Math.random() * this.#periodMs }))
      .sort((a, b) => a.phaseMs - b.phaseMs);
    const partMs = this.#periodMs / members.length;
    this.#turns = isEven
      ? atRandom.map(({ member }, turn) => ({ member, phaseMs: (turn + Math.random()) * partMs }))
      : atRandom;
  }

  start(): void {
    this.#startedMs = performance.now();
    this.#timer = setInterval(() => this.#postDue(), TICK_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #postDue(): void {
    const elapsedMs = performance.now() - this.#startedMs;
    for (;;) {
      const { member, phaseMs } = this.#turns[this.#turn % this.#turns.length]!;
      const dueMs = Math.trunc(this.#turn / this.#turns.length) * this.#periodMs + phaseMs;
      if (dueMs > elapsedMs) return;
      this.#turn++;
      if (this.silent.has(member)) continue;
      this.lagsUs.add((elapsedMs - dueMs) * US_PER_MS);
      member.post();
      this.posted++;
    }
  }
}
