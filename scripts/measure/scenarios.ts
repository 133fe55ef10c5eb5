// The scenarios of the bench, as data: what the members of a run do, which servers it compares, and what its table shows. Called by bench.ts.
import type { Workload } from "./reading.ts";
import type { ColumnName } from "./table.ts";

export interface Scenario {
  readonly name: string;
  readonly question: string;
  /** Of one run of the scenario. */
  readonly label: string;
  /** The first one is the reference of the ratios. */
  readonly peers: readonly string[];
  readonly columns: readonly ColumnName[];
  /** Results that hardly vary are measured once. */
  readonly isOnce?: true;
  /** Whether a peer that cannot hold the offered rate is tried at lower ones. */
  readonly searchesRate?: true;
  readonly workload: Workload;
}

const CHAT_PEERS = ["socketio-ws", "parley", "parley-shim", "socketio-bun", "bare-object", "bare-batches"];
const BUSY_PEERS = ["socketio-ws", "parley", "parley-bundles", ...CHAT_PEERS.slice(2)];
const LATENCIES = ["p50", "p95", "p99", "ackP50"] as const;
const TRAFFIC = ["perCpuSecond", "ratio", ...LATENCIES, "faults", "serverBusy", "generatorBusy", "rateHeld"] as const;
const CONNECTS = ["cpuPerConnect", "kbPerConnection"] as const;

/** V8 compiles what runs often during the first ten seconds. A server that runs for months is past that. */
const USUAL = {
  own: 0,
  polling: 0,
  library: 0,
  payloadBytes: 100,
  connectsPerSecond: 1000,
  warmUpSeconds: 10,
  seconds: 10,
} as const;

const busy = (users: number, postsPerUserPerSecond: number): Scenario => ({
  name: "busy",
  question: "one room, everybody talks",
  label: `busy ${users} × ${postsPerUserPerSecond}/s`,
  peers: BUSY_PEERS,
  columns: [...TRAFFIC, ...CONNECTS],
  searchesRate: true,
  workload: { ...USUAL, rooms: 1, users, postsPerUserPerSecond },
});

const idle = (users: number, seconds: number): Scenario => ({
  name: "idle",
  question: "connected and silent",
  label: `idle ${users}`,
  peers: ["socketio-ws", "parley", "parley-shim", "bare-object", "socketio-bun"],
  columns: ["kbPerConnection", "kbAsleep", "cpuPerMinute", "pings"],
  isOnce: true,
  // A room sleeps 10 s after its last packet, and sets its alarm a moment before that.
  workload: { ...USUAL, rooms: users / 100, users, postsPerUserPerSecond: 0, warmUpSeconds: 14, seconds },
});

export const SCENARIOS: readonly Scenario[] = [
  busy(100, 1),
  busy(500, 1),
  busy(1000, 0.5),
  {
    name: "stock",
    question: "the package socket.io on an object, beside a class and beside Node: one room, everybody talks",
    label: "stock 100 × 1/s",
    peers: ["class-object", "stock-object", "socketio-ws"],
    columns: ["cpuPerDelivery", ...TRAFFIC, ...CONNECTS],
    workload: { ...USUAL, rooms: 1, users: 100, postsPerUserPerSecond: 1 },
  },
  {
    name: "rooms",
    question: "many rooms with a post now and then in each",
    label: "rooms 100 × 50 × 0.2/s",
    peers: CHAT_PEERS,
    columns: [...TRAFFIC, ...CONNECTS],
    searchesRate: true,
    workload: { ...USUAL, rooms: 100, users: 5000, postsPerUserPerSecond: 0.2 },
  },
  {
    name: "quiet",
    question: "quiet rooms, into which people come at a steady rate",
    label: "quiet 80 × 50 × 0.05/s",
    peers: CHAT_PEERS,
    columns: [...TRAFFIC, ...CONNECTS],
    workload: {
      ...USUAL,
      rooms: 80,
      users: 4000,
      postsPerUserPerSecond: 0.05,
      connectsPerSecond: 300,
      warmUpSeconds: 20,
      seconds: 30,
    },
  },
  {
    name: "echo",
    question: "post to ack, little going on",
    label: "echo",
    peers: CHAT_PEERS,
    columns: ["ackP50", "ackP95", "ackP99", "cpuPerPost", "faults"],
    workload: { ...USUAL, rooms: 30, users: 150, isMonologue: true, postsPerUserPerSecond: 2, warmUpSeconds: 4 },
  },
  {
    name: "storm",
    question: "all connections break, and come back at once",
    label: "storm 2000",
    peers: ["socketio-ws", "parley", "parley-shim", "socketio-bun"],
    columns: ["caughtUp", "caughtUpRatio", "allBack", "recovered", "cpuOfReturn", "faults"],
    workload: {
      ...USUAL,
      rooms: 1,
      users: 2000,
      isMonologue: true,
      postsPerUserPerSecond: 7,
      warmUpSeconds: 2,
      seconds: 3,
      breaks: { share: 1, awayMs: 3000 },
    },
  },
  idle(1000, 10),
  idle(10_000, 60),
  {
    name: "big",
    question: "one room in one object, and spread over shards; then a ninth of the connections breaks",
    label: "big 9000 × 2/s in all",
    peers: ["one-object", "shards"],
    columns: [
      "cpuPerDelivery",
      ...LATENCIES,
      "faults",
      "allBack",
      "recovered",
      "serverBusy",
      "generatorBusy",
      ...CONNECTS,
    ],
    workload: {
      ...USUAL,
      rooms: 1,
      users: 9000,
      postsPerUserPerSecond: 2 / 9000,
      seconds: 20,
      breaks: { share: 1 / 9, awayMs: 1000 },
    },
  },
  {
    name: "ten-thousand",
    question: "10,000 users in 200 rooms for five minutes, 1.5 messages a minute each",
    label: "10000 in 200 rooms",
    peers: ["socketio-ws", "parley"],
    columns: ["perCpuSecond", "ratio", ...LATENCIES, "faults", "serverBusy", "generatorBusy", ...CONNECTS],
    isOnce: true,
    workload: {
      ...USUAL,
      rooms: 200,
      users: 10_000,
      postsPerUserPerSecond: 0.025,
      connectsPerSecond: 300,
      seconds: 300,
    },
  },
];

const QUICK_USERS_MAX = 500;
const QUICK_SECONDS = { warmUpSeconds: 3, seconds: 4 };

/** The same for a first look. */
export function quick(scenario: Scenario): Scenario {
  const { workload } = scenario;
  const part = Math.min(1, QUICK_USERS_MAX / workload.users);
  const users = Math.round(workload.users * part);
  return {
    ...scenario,
    label: `${scenario.label}, quick look`,
    workload: { ...workload, ...QUICK_SECONDS, users, rooms: Math.max(1, Math.round(workload.rooms * part)) },
  };
}
