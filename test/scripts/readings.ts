// A reading of a run without faults, for tests of reports, verdicts and bills to change.
import type { Reading } from "../../scripts/measure/reading.ts";

const LATENCY = { count: 6, p50Ms: 6, p90Ms: 7, p95Ms: 8, p99Ms: 90, p999Ms: 90, maxMs: 90 };

type Changes = {
  readonly [Name in keyof Reading]?: Reading[Name] extends object ? Partial<Reading[Name]> : Reading[Name];
};

/** 150 users in 10 rooms, who all got in and posted five messages. @param changes of fields, and of fields of fields */
export function readingOf(changes: Changes = {}): Reading {
  const reading: Reading = {
    format: 2,
    startedAt: "2026-11-28T12:00:00.000Z",
    server: "http://127.0.0.1:8787",
    outcome: "clean",
    workload: {
      rooms: 10,
      users: 150,
      own: 0,
      polling: 0,
      library: 0,
      postsPerUserPerSecond: 0.1,
      payloadBytes: 100,
      connectsPerSecond: 200,
      warmUpSeconds: 0,
      seconds: 2,
    },
    machine: { cpu: "<a & b>", cores: 2, node: "24", platform: "Linux" },
    phases: { connectedAt: 1, postingFrom: 2, postingTo: 62, finishedAt: 65 },
    connections: {
      users: 150,
      in: 150,
      attempts: 151,
      failures: 1,
      drops: 0,
      returns: 0,
      recoveries: 0,
      away: 0,
      serverCpuSeconds: 1.5,
      residentBytes: 150 * 102_400,
    },
    messages: { posts: 5, acks: 5, refusals: 0, unsent: 0, unanswered: 0, deliveries: 75 },
    measured: {
      seconds: 2,
      posts: 5,
      deliveries: 75,
      pings: 0,
      serverCpuSeconds: 0.5,
      generatorBusy: 0.1,
      residentBytes: 1e8,
    },
    drainMs: 10,
    latency: { connect: LATENCY, delivery: LATENCY, ack: LATENCY, generatorLate: LATENCY },
    deliveryCurve: [
      [0.5, 6],
      [1, 90],
    ],
    faults: {
      lost: 0,
      doubled: 0,
      outOfOrder: 0,
      disagreeing: 0,
      repeated: 0,
      strayed: 0,
      absent: 0,
      unread: 0,
      unanswered: 0,
    },
    missedAway: 0,
    history: { rooms: 10, messages: 5 },
    errors: {},
    rows: [
      {
        second: 3,
        connected: 150,
        posts: 5,
        acks: 5,
        deliveries: 75,
        errors: 0,
        p50Ms: 6,
        p95Ms: 8,
        p99Ms: 90,
        maxMs: 90,
        ackP99Ms: 7,
        cores: 0.5,
        residentBytes: 2 ** 28,
        stolenCores: 0,
      },
    ],
  };
  const changed = Object.entries(changes).map(([name, value]) => {
    const isPart = typeof value === "object" && !Array.isArray(value);
    return [name, isPart ? Object.assign({}, reading[name as keyof Reading], value) : value];
  });
  return { ...reading, ...Object.fromEntries(changed) };
}
