// The prices that bills are made with: one file of data, dated, with a source for each (prices.json). Checked when read.
import { readFileSync } from "node:fs";
import path from "node:path";

import * as z from "zod";

const metered = z.object({ perMillion: z.number(), included: z.number() });
const measured = z.object({ perUnit: z.number(), included: z.number() });
const ladder = z.array(z.object({ upToMillions: z.number().optional(), price: z.number() }));

const schema = z.object({
  lookedUp: z.iso.date(),
  currency: z.literal("USD"),
  cloudflare: z.object({
    source: z.string(),
    plan: z.number(),
    objectRequests: metered,
    objectGbSeconds: metered,
    objectGb: z.number(),
    framesPerRequest: z.number(),
    rowsWritten: metered,
    rowsRead: metered,
    storedGb: measured,
    workerRequests: metered,
    queueOperations: metered,
    operationsPerQueueMessage: z.number(),
    r2StoredGb: measured,
    r2ClassA: metered,
    r2ClassB: metered,
  }),
  selfHosted: z.object({
    name: z.string(),
    source: z.string(),
    instance: z.string(),
    instanceHour: z.number(),
    redisInstances: z.number(),
    instancesMin: z.number(),
    connectionsPerInstance: z.number(),
    deliveriesPerSecondPerInstance: z.number(),
    loadBalancerHour: z.number(),
    capacityUnitHour: z.number(),
    connectionsPerCapacityUnit: z.number(),
    gbPerCapacityUnitHour: z.number(),
    trafficOutGb: z.number(),
    trafficOutIncludedGb: z.number(),
    note: z.string(),
  }),
  pusher: z.object({
    name: z.string(),
    source: z.string(),
    plans: z.array(
      z.object({ name: z.string(), perMonth: z.number(), connections: z.number(), messagesPerDay: z.number() }),
    ),
    note: z.string(),
  }),
  ably: z.object({
    name: z.string(),
    source: z.string(),
    packages: z.array(
      z.object({ name: z.string(), perMonth: z.number(), connections: z.number(), messagesPerSecond: z.number() }),
    ),
    messagesPerMillion: ladder,
    minutesPerMillion: ladder,
    note: z.string(),
  }),
  pubnub: z.object({
    name: z.string(),
    source: z.string(),
    replicatedTransaction: z.number(),
    edgeTransaction: z.number(),
    note: z.string(),
  }),
  /** Prices that were not found. */
  missing: z.array(z.string()),
});

export type Prices = z.infer<typeof schema>;
export type Ladder = z.infer<typeof ladder>;

const PRICES_FILE = path.join(import.meta.dirname, "prices.json");

/** @throws ZodError if the file lacks a price */
export function readPrices(file = PRICES_FILE): Prices {
  return schema.parse(JSON.parse(readFileSync(file, "utf8")));
}
