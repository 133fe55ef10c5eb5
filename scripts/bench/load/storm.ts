// All connections break at once, miss messages, and come back at once: when is everything as before?
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";

import { gather, joinAll } from "./crowd.ts";
import type { ServerFacts, StormJob, StormReading } from "./job.ts";
import { Meter } from "./meter.ts";

const SETTLE_MS = 2500;
const POST_PAUSE_MS = 10;
const CAUGHT_UP_MS_MAX = 60_000;
const POLL_MS = 10;

export async function runStorm(server: ServerFacts, job: StormJob): Promise<StormReading> {
  const gathering = await gather(server, job);
  const [speaker, ...others] = gathering.members;
  for (const member of others) member.tracksOffset = true;
  await sleep(SETTLE_MS);
  // Every client has an offset to come back to.
  speaker!.post();
  await until(() => others.every(({ sequence }) => sequence.length >= 1));

  for (const member of others) member.drop();
  await sleep(job.awayMs / 2);
  for (let i = 0; i < job.missed; i++) {
    speaker!.post();
    await sleep(POST_PAUSE_MS);
  }
  await sleep(job.awayMs / 2);

  const meter = new Meter(server.pids);
  const startedMs = performance.now();
  await joinAll(others, others.length);
  const joinedMs = performance.now() - startedMs;
  await until(() => others.every(({ sequence }) => sequence.length >= speaker!.posted));
  const caughtUpMs = performance.now() - startedMs;
  const cost = meter.read();
  // A duplicate arrives within this time.
  await sleep(SETTLE_MS);
  return {
    kind: "storm",
    ...cost,
    caughtUpMs,
    joinedMs,
    recovered: others.filter(({ recovered }) => recovered).length,
    faults: gathering.faults(),
    failures: gathering.failures,
  };
}

/** Gives up after a minute: messages that are missing then count as lost. */
async function until(isDone: () => boolean): Promise<void> {
  const startedMs = performance.now();
  while (!isDone() && performance.now() - startedMs < CAUGHT_UP_MS_MAX) await sleep(POLL_MS);
}
