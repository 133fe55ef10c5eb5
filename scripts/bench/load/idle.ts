// Idle connections: the memory of one, before and after its room fell asleep, and the cost of idling.
import { readdirSync, statSync } from "node:fs";
import path from "node:path";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";

import { gather } from "./crowd.ts";
import type { IdleJob, IdleReading, ServerFacts } from "./job.ts";
import { Meter } from "./meter.ts";

const SETTLE_MS = 2000;
const SECONDS_PER_MINUTE = 60;

export async function runIdle(server: ServerFacts, job: IdleJob): Promise<IdleReading> {
  // The first connection starts isolates and objects' classes; only the growth by further members counts.
  const [first] = (await gather(server, { rooms: 1, membersPerRoom: 1 })).members;
  first!.drop();
  await sleep(SETTLE_MS);
  const meter = new Meter(server.pids);
  const bytesBefore = meter.residentBytes();
  const connections = job.rooms * job.membersPerRoom;
  const perConnection = (): number => (meter.residentBytes() - bytesBefore) / connections;

  const startedMs = performance.now();
  const gathering = await gather(server, job);
  const connectsPerSecond = connections / ((performance.now() - startedMs) / 1000);
  await sleep(SETTLE_MS);
  const awakeBytesPerConnection = perConnection();
  await sleep(job.settleSeconds * 1000);
  const pingsBefore = gathering.pings;
  const databases = readDatabases(job.stateDir);
  meter.start();
  await sleep(job.seconds * 1000);
  const cost = meter.read();
  return {
    kind: "idle",
    ...cost,
    connectsPerSecond,
    awakeBytesPerConnection,
    asleepBytesPerConnection: perConnection(),
    cpuSecondsPerMinute: (cost.serverCpuSeconds / cost.wallSeconds) * SECONDS_PER_MINUTE,
    pings: gathering.pings - pingsBefore,
    databasesWritten: countChanged(databases, readDatabases(job.stateDir)),
    failures: gathering.failures,
  };
}

/** Every commit of an object moves the time of its write-ahead log; the databases' own bookkeeping is not ours. */
function readDatabases(stateDir: string | undefined): Map<string, number> {
  if (stateDir === undefined) return new Map();
  const logs = readdirSync(stateDir, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith("-wal"));
  return new Map(logs.map((name) => [name, statSync(path.join(stateDir, name)).mtimeMs]));
}

function countChanged(before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>): number {
  return [...after].filter(([name, mtimeMs]) => before.get(name) !== mtimeMs).length;
}
