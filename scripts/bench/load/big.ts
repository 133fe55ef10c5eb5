// One room that is larger than an object. While messages go on, one of its shards is killed: its members come back, recover, and must have
// missed nothing. In the run with one object about as many connections are cut, so that the two can be compared. Called by generator.ts.
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";

import { Histogram } from "../../measuring/statistics.ts";
import { roomName, type Gathering } from "./crowd.ts";
import type { BigJob, BigReading, BrokenPart, ServerFacts } from "./job.ts";
import type { Member } from "./member.ts";
import { measureTraffic, type Posting } from "./traffic.ts";

/** Every member has an offset to come back to, and its posts have their acks. */
const CALM_MS = 3000;
/** As stock clients come back: after a second, give or take a half. */
const RETURN_MS = 1000;
const BACK_MS_MAX = 30_000;
const POLL_MS = 10;
const US_PER_MS = 1000;

export async function runBig(server: ServerFacts, job: BigJob): Promise<BigReading> {
  let placed: readonly number[] = [];
  let broken: BrokenPart | undefined;
  const reading = await measureTraffic(server, job, async (gathering, posting) => {
    placed = placesOf(gathering.members, job.shards);
    broken = await breakPart(server, job, gathering, posting);
  });
  return { kind: "big", ...reading, placed, broken: broken! };
}

/** Session ids in a shard begin with its number. */
const shardOf = ({ sid }: Member): number | undefined => {
  const [, shard] = /^(\d+)~/.exec(sid) ?? [];
  return shard === undefined ? undefined : Number(shard);
};

function placesOf(members: readonly Member[], shards: number): number[] {
  const counts = Array.from({ length: 1 + shards }, () => 0);
  for (const member of members) counts[1 + (shardOf(member) ?? -1)]!++;
  return counts;
}

/** Breaks the connections of one shard; of one object, those of as many members. */
async function breakPart(
  server: ServerFacts,
  job: BigJob,
  gathering: Gathering,
  posting: Posting,
): Promise<BrokenPart> {
  const { members } = gathering;
  const shard = members.map(shardOf).find((one) => one !== undefined);
  if (server.killPath !== undefined && shard === undefined) throw new Error("no member is in a shard");
  const part =
    shard === undefined ? everyNth(members, 1 + job.shards) : members.filter((one) => shardOf(one) === shard);
  const victims = new Set(part);
  // A post that is under way when its connection breaks may be stored or not, and nobody would know.
  posting.silent = victims;
  for (const member of victims) member.tracksOffset = true;
  await sleep(CALM_MS);

  const returns: Array<Promise<void>> = [];
  const onBroken = (member: Member): void => void returns.push(comeBack(member));
  for (const member of victims) member.onBroken = () => onBroken(member);
  gathering.apart = victims;
  gathering.latencies = new Histogram();
  gathering.measure(gathering.now(), gathering.now() + job.killSeconds * 1000 * US_PER_MS);
  const brokenMs = performance.now();
  if (shard !== undefined) await kill(server, shard);
  else
    for (const member of victims) {
      member.drop();
      onBroken(member);
    }
  while (returns.length < victims.size && performance.now() - brokenMs < BACK_MS_MAX) await sleep(POLL_MS);
  await Promise.all(returns);
  const backMs = performance.now() - brokenMs;
  await sleep(Math.max(0, job.killSeconds * 1000 - backMs));
  return {
    members: victims.size,
    recovered: part.filter(({ recovered }) => recovered).length,
    backMs,
    othersP99Ms: gathering.latencies.percentile(0.99) / US_PER_MS,
  };
}

const everyNth = (members: readonly Member[], n: number): Member[] => members.filter((_, at) => at % n === 0);

async function kill({ host, ports, killPath }: ServerFacts, shard: number): Promise<void> {
  await fetch(`http://${host}:${ports[0]}${killPath}?room=${roomName(0)}&shard=${shard}`, { method: "POST" });
}

async function comeBack(member: Member): Promise<void> {
  const untilMs = performance.now() + BACK_MS_MAX;
  for (;;) {
    await sleep(RETURN_MS * (0.5 + Math.random()));
    try {
      return await member.join();
    } catch (error) {
      if (performance.now() > untilMs) throw error;
    }
  }
}
