// What the platform bills for what a room has used: the formula, and its prices as data.
import type { Usage } from "./room-usage.ts";

/** Dollars. */
export interface Prices {
  /** When they were looked up. */
  readonly asOf: string;
  readonly source: string;
  readonly perMillionRowsWritten: number;
  readonly perMillionRequests: number;
  readonly perMillionGbSeconds: number;
  /** Incoming WebSocket messages that count as one request. */
  readonly messagesPerRequest: number;
  /** What an object is billed for while it is awake, whatever it uses. */
  readonly objectGb: number;
}

export const PRICES: Prices = {
  asOf: "2026-11-21",
  source: "https://developers.cloudflare.com/durable-objects/platform/pricing/",
  perMillionRowsWritten: 1,
  perMillionRequests: 0.15,
  perMillionGbSeconds: 12.5,
  messagesPerRequest: 20,
  objectGb: 0.128,
};

const MONTH_MS = 30 * 24 * 3_600_000;

/** From less than this nothing can be said about a month. */
export const MEASURED_MS_MIN = 600_000;

export interface Cost {
  readonly rows: number;
  readonly requests: number;
  readonly duration: number;
  readonly total: number;
}

/** What was used, in dollars; what the plan includes is not taken off, since all rooms share it. */
export function costOf(usage: Usage, prices: Prices = PRICES): Cost {
  const rows = ((usage.rows + usage.alarmsSet) * prices.perMillionRowsWritten) / 1e6;
  const billed = usage.requests + usage.framesIn / prices.messagesPerRequest;
  const requests = (billed * prices.perMillionRequests) / 1e6;
  const duration = ((usage.awakeMs / 1000) * prices.objectGb * prices.perMillionGbSeconds) / 1e6;
  return { rows, requests, duration, total: rows + requests + duration };
}

/**
 * The same for 30 days that go on as the time did in which it was used.
 * @param countedMs for how long is counted
 * @param usedMs in how much of that it was used
 * @returns `undefined` where is counted for too short a time
 */
export function monthlyCost(usage: Usage, countedMs: number, usedMs = countedMs): Cost | undefined {
  if (countedMs < MEASURED_MS_MIN) return undefined;
  const { rows, requests, duration, total } = costOf(usage);
  const months = usedMs / MONTH_MS;
  return { rows: rows / months, requests: requests / months, duration: duration / months, total: total / months };
}
