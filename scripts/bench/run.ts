// One run of one peer: starts its server, runs the generator against it, and checks the results.
import path from "node:path";

import { cpuSeconds, openFilesMax, processTree, sumOver } from "../process.ts";
import type { Job, Reading } from "./load/job.ts";
import { judge, type EmitsReading, type Outcome, type Verdict } from "./outcome.ts";
import { ANNOUNCING_PEERS } from "./announcers.ts";
import { BIG_PEERS } from "./big-peers.ts";
import { EMITTING_PEERS } from "./emitters.ts";
import { PEERS, type Contender, type Peer, type RunningServer } from "./peers.ts";
import { RACING_PEERS } from "./racers.ts";
import { firstShare, nextShare } from "./rate-search.ts";
import type { EmitsJob, LoadJob, Run } from "./scenarios.ts";
import { GENERATOR_CORE, Process } from "./spawn.ts";

/** Open files of a process besides its connections, among them the databases of 100 rooms. */
const FILES_SPARE = 1000;
const GENERATOR = path.join(import.meta.dirname, "load", "generator.ts");
const EMITS_MS_MAX = 300_000;
/** Connecting 10,000 members, settling and draining, on top of a job's own seconds. */
const GENERATOR_EXTRA_MS_MAX = 180_000;

type Measured = Pick<Outcome, "verdict" | "reason" | "reading" | "rateShare">;

/** The peers of a run, in the order of the table. */
export function contenders({ job }: Run): readonly Contender[] {
  if (job.kind === "emits") return EMITTING_PEERS;
  if (job.kind === "race") return RACING_PEERS;
  if (job.kind === "big") return BIG_PEERS;
  if (job.kind !== "followers") return PEERS;
  return ANNOUNCING_PEERS.filter(({ knowsUsers }) => knowsUsers || job.addressed === "rooms");
}

/**
 * @param heldShare of the offered rate, in the round before
 * @returns every attempt; the last one counts
 */
export async function measure(run: Run, contender: Contender, heldShare: number | undefined): Promise<Measured[]> {
  const missing = contender.missing?.() ?? missingFiles(run.job);
  if (missing !== undefined) return [{ verdict: "skipped", reason: missing, rateShare: 1 }];
  const attempts: Measured[] = [];
  let rateShare: number | undefined = firstShare(heldShare);
  while (rateShare !== undefined) {
    const attempt: Measured = { ...(await attemptOnce(run, contender.name, rateShare)), rateShare };
    attempts.push(attempt);
    rateShare = run.searchesRate && nextShare(attempt);
  }
  return attempts;
}

function missingFiles(job: Run["job"]): string | undefined {
  if (job.kind === "emits") return undefined;
  if (job.kind === "race") return missing(job.seconds * job.arrivalsPerSecond);
  const others = job.kind === "followers" ? job.chat.rooms * job.chat.membersPerRoom : 0;
  return missing(job.rooms * job.membersPerRoom + others);
}

function missing(connections: number): string | undefined {
  const needed = connections + FILES_SPARE;
  const limit = openFilesMax();
  return needed <= limit ? undefined : `it takes ${needed} open files, and the limit here is ${limit} (ulimit -Hn)`;
}

async function attemptOnce(run: Run, peer: string, rateShare: number): Promise<Omit<Measured, "rateShare">> {
  const { job } = run;
  try {
    if (job.kind === "emits") return { verdict: "ok", reading: await emit(job, peer) };
    const scaled = job.kind === "traffic" ? { ...job, perMemberPerSecond: job.perMemberPerSecond * rateShare } : job;
    const reading = await generate(scaled, peer);
    return { ...judge(reading), reading };
  } catch (error) {
    return { verdict: "failed" satisfies Verdict, reason: (error as Error).message };
  }
}

async function generate(job: LoadJob, peer: string): Promise<Reading> {
  // A fresh server each time: no run profits from a heap that another has warmed up or filled.
  const server = await start(job, peer);
  const generator = new Process({ args: [process.execPath, GENERATOR], core: GENERATOR_CORE });
  try {
    const { stateDir } = server;
    generator.write(JSON.stringify({ ...job, server: server.facts, ...(stateDir && { stateDir }) } satisfies Job));
    await generator.endsWithin(secondsOf(job) * 1000 + GENERATOR_EXTRA_MS_MAX);
    return JSON.parse(generator.lastLine) as Reading;
  } finally {
    await Promise.all([generator.stop(), server.stop()]);
  }
}

function secondsOf(job: LoadJob): number {
  if (job.kind === "big") return job.warmUpSeconds + job.seconds + job.killSeconds;
  if (job.kind === "traffic") return job.warmUpSeconds + job.seconds;
  return "seconds" in job ? job.seconds : 0;
}

function start(job: LoadJob, peer: string): Promise<RunningServer> {
  if (job.kind === "big") {
    const room = { members: job.membersPerRoom, shards: job.shards, clients: job.clients };
    return BIG_PEERS.find(({ name }) => name === peer)!.start(room);
  }
  if (job.kind === "race") return RACING_PEERS.find(({ name }) => name === peer)!.start(job);
  const peers: readonly Peer[] = job.kind === "followers" ? ANNOUNCING_PEERS : PEERS;
  return peers.find(({ name }) => name === peer)!.start({ recovery: job.kind === "storm" });
}

async function emit({ count, chars }: EmitsJob, peer: string): Promise<EmitsReading> {
  const emitter = await EMITTING_PEERS.find(({ name }) => name === peer)!.start(count, chars);
  try {
    const pids = emitter.pids.flatMap(processTree);
    const cpuBefore = sumOver(pids, cpuSeconds);
    const wallSeconds = await emitter.emit(EMITS_MS_MAX);
    return { kind: "emits", count, wallSeconds, serverCpuSeconds: sumOver(pids, cpuSeconds) - cpuBefore };
  } finally {
    await emitter.stop();
  }
}
