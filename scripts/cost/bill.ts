// The bill for a month's events, by line item, as Cloudflare reckons it.
import type { Events } from "./model.ts";
import type { Prices } from "./prices.ts";

export interface BillLine {
  readonly item: string;
  /** Number and unit. */
  readonly quantity: number;
  readonly unit: string;
  /** Of these the plan includes so many. */
  readonly included: number;
  readonly dollars: number;
}

export interface Bill {
  readonly lines: readonly BillLine[];
  readonly total: number;
}

export function billOf(events: Events, { cloudflare }: Prices): Bill {
  const objectRequests =
    events.upgrades +
    events.polls +
    (events.framesIn + events.heartbeats) / cloudflare.framesPerRequest +
    events.alarms +
    events.reports +
    events.shardCalls;
  const metered = (item: string, unit: string, quantity: number, { perMillion, included }: Metered): BillLine =>
    lineOf(item, unit, quantity, included, perMillion / 1e6);
  const lines: BillLine[] = [
    { item: "Workers Paid plan", quantity: 1, unit: "month", included: 0, dollars: cloudflare.plan },
    metered("requests to objects", "requests", objectRequests, cloudflare.objectRequests),
    metered("objects at work", "GB-s", events.awakeSeconds * cloudflare.objectGb, cloudflare.objectGbSeconds),
    metered("rows written, alarms set", "rows", events.rowsWritten + events.alarms, cloudflare.rowsWritten),
    metered("rows read", "rows", events.rowsRead, cloudflare.rowsRead),
    lineOf("stored in objects", "GB", events.storedGb, cloudflare.storedGb.included, cloudflare.storedGb.perUnit),
    metered(
      "requests to the Worker",
      "requests",
      events.upgrades + events.polls + events.uploads * 2,
      cloudflare.workerRequests,
    ),
    metered(
      "queue",
      "operations",
      events.queueMessages * cloudflare.operationsPerQueueMessage,
      cloudflare.queueOperations,
    ),
    lineOf("files stored", "GB", events.uploadedGb, cloudflare.r2StoredGb.included, cloudflare.r2StoredGb.perUnit),
    metered("files written", "operations", events.uploads, cloudflare.r2ClassA),
  ];
  return { lines, total: lines.reduce((sum, { dollars }) => sum + dollars, 0) };
}

type Metered = Prices["cloudflare"]["rowsRead"];

function lineOf(item: string, unit: string, quantity: number, included: number, price: number): BillLine {
  return { item, quantity, unit, included, dollars: Math.max(0, quantity - included) * price };
}
