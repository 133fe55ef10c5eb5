// One post at a time, to one room after the other: how long until its ack, where nothing else is going on?
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";

import { gather } from "./crowd.ts";
import type { EchoJob, EchoReading, ServerFacts } from "./job.ts";
import type { Member } from "./member.ts";
import { Meter } from "./meter.ts";

const WARM_UP_POSTS = 200;
const ANSWER_MS_MAX = 10_000;
const POLL_MS = 1;
const US_PER_MS = 1000;

export async function runEcho(server: ServerFacts, job: EchoJob): Promise<EchoReading> {
  const gathering = await gather(server, job);
  const speakers = gathering.rooms.map(([first]) => first!);
  const meter = new Meter(server.pids);
  let untilMs = Infinity;
  for (let posts = 0; performance.now() < untilMs; posts++) {
    if (posts === WARM_UP_POSTS) {
      meter.start();
      gathering.measure(gathering.now(), Infinity);
      untilMs = performance.now() + job.seconds * 1000;
    }
    const speaker = speakers[posts % speakers.length]!;
    speaker.post();
    await untilAnswered(speaker);
    await sleep(job.pauseMs);
  }
  const cost = meter.read();
  const { ackLatencies } = gathering;
  return {
    kind: "echo",
    ...cost,
    posts: ackLatencies.count,
    p50Ms: ackLatencies.percentile(0.5) / US_PER_MS,
    p95Ms: ackLatencies.percentile(0.95) / US_PER_MS,
    p99Ms: ackLatencies.percentile(0.99) / US_PER_MS,
    faults: gathering.faults(),
    failures: gathering.failures,
  };
}

async function untilAnswered(speaker: Member): Promise<void> {
  const startedMs = performance.now();
  while (speaker.unanswered > 0) {
    if (performance.now() - startedMs > ANSWER_MS_MAX) throw new Error(`no ack in ${ANSWER_MS_MAX} ms`);
    await sleep(POLL_MS);
  }
}
