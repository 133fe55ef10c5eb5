// The JSON report of a load test; `npm run cost -- --from` reads it back. docs/load.md describes it.
import * as z from "zod";

const percentiles = z.object({
  count: z.number(),
  p50Ms: z.number(),
  p90Ms: z.number(),
  p95Ms: z.number(),
  p99Ms: z.number(),
  p999Ms: z.number(),
  maxMs: z.number(),
});
export type Percentiles = z.infer<typeof percentiles>;

const counted = z.object({
  posts: z.number().optional(),
  commits: z.number().optional(),
  rowsWritten: z.number().optional(),
  alarms: z.number().optional(),
  upgrades: z.number().optional(),
  framesIn: z.number().optional(),
  heartbeats: z.number().optional(),
  reports: z.number().optional(),
  awakeSeconds: z.number().optional(),
});

const second = z.object({
  second: z.number(),
  connected: z.number(),
  posts: z.number(),
  acks: z.number(),
  deliveries: z.number(),
  errors: z.number(),
  p50Ms: z.number(),
  p95Ms: z.number(),
  p99Ms: z.number(),
  maxMs: z.number(),
  ackP99Ms: z.number(),
});
export type SecondRow = z.infer<typeof second>;

export const reportSchema = z.object({
  /** Rises when a field changes its meaning. */
  format: z.literal(1),
  startedAt: z.string(),
  server: z.string(),
  outcome: z.enum(["clean", "faults", "incomplete", "interrupted"]),
  asked: z.object({
    users: z.number(),
    rooms: z.number(),
    shimShare: z.number(),
    pollingShare: z.number(),
    realShare: z.number(),
    pace: z.discriminatedUnion("kind", [
      z.object({ kind: z.literal("rate"), perUserPerSecond: z.number() }),
      z.object({ kind: z.literal("think"), minSeconds: z.number(), maxSeconds: z.number() }),
    ]),
    durationSeconds: z.number(),
    connectsPerSecond: z.number(),
    payloadBytes: z.number(),
    processes: z.number(),
  }),
  machine: z.object({ cpu: z.string(), cores: z.number(), node: z.string(), platform: z.string() }),
  /** Seconds of the run at which the phases began and ended; second 0 is the first connect. */
  phases: z.object({ connectedAt: z.number(), postingFrom: z.number(), postingTo: z.number(), finishedAt: z.number() }),
  connections: z.object({
    users: z.number(),
    in: z.number(),
    attempts: z.number(),
    failures: z.number(),
    connect: percentiles,
    drops: z.number(),
    returns: z.number(),
    recoveries: z.number(),
    /** Members that had connected and were not connected at the end. */
    away: z.number().default(0),
  }),
  messages: z.object({
    posts: z.number(),
    acks: z.number(),
    refusals: z.number(),
    unsent: z.number(),
    unanswered: z.number(),
    deliveries: z.number(),
    postsPerSecond: z.number(),
    deliveriesPerSecond: z.number(),
  }),
  /** From the moment at which a post was due, whether or not it could go out then. */
  latency: z.object({ delivery: percentiles, ack: percentiles, generatorLate: percentiles }),
  deliveryCurve: z.array(z.tuple([z.number(), z.number()])),
  faults: z.object({
    lost: z.number(),
    doubled: z.number(),
    outOfOrder: z.number(),
    disagreeing: z.number(),
    strayed: z.number(),
    ackedAbsent: z.number(),
    /** Rooms of which it could not be looked up. */
    historiesUnread: z.number().default(0),
    /** Posts of members that were connected all the time. */
    unanswered: z.number().default(0),
  }),
  /** Of the one room of `--big`, once all users were in: sockets in the room itself, and in each shard. */
  placed: z.object({ inRoom: z.number(), inShards: z.array(z.number()) }).optional(),
  /** Posted while a member was away and not recovered: no fault, but missed. */
  missedAway: z.number(),
  history: z.object({ rooms: z.number(), messages: z.number(), problem: z.string().optional() }).optional(),
  errors: z.record(z.string(), z.number()),
  process: z
    .object({
      pid: z.number(),
      samples: z.array(z.object({ second: z.number(), cores: z.number(), residentBytes: z.number() })),
    })
    .optional(),
  /** Cores that the machine's host gave to others; nothing where the system does not tell. */
  stolen: z.array(z.object({ second: z.number(), cores: z.number() })).optional(),
  /** Billable events: as the clients know them, and as the server counted them where it tells. */
  counted: z.object({
    seconds: z.number(),
    clients: counted.extend({ requests: z.number() }),
    server: counted.optional(),
    /** The second of the run at which the server was asked. */
    askedAt: z.number().optional(),
  }),
  seconds: z.array(second),
});

export type LoadReport = z.infer<typeof reportSchema>;

/** @throws Error with the field that does not fit */
export function parseReport(text: string, file: string): LoadReport {
  const parsed = reportSchema.safeParse(parseJson(text, file));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Error(`${file} is no report of npm run load: ${issue!.path.join(".")}: ${issue!.message}`);
}

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${file} is no JSON.`);
  }
}

export function faultsIn({ faults }: LoadReport): number {
  return Object.values(faults).reduce((sum, count) => sum + count, 0);
}
