// The bill of the platform for the usage of a room: the formula, and its prices as data. Called by
// busiest-rooms.ts and by the usage calls of the API.
import { MEASURED_MS_MIN, type Usage } from "./usage.ts";

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
  /** Memory that an awake object is billed for, however little it uses. */
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

export interface Cost {
  readonly rows: number;
  readonly requests: number;
  readonly duration: number;
  readonly total: number;
}

/** The cost of a usage, in dollars. The plan's included amounts are not subtracted, because all rooms share them. */
export function costOf(usage: Usage, prices: Prices = PRICES): Cost {
  const rows = ((usage.rows + usage.alarmsSet) * prices.perMillionRowsWritten) / 1e6;
  const billed = usage.requests + usage.framesIn / prices.messagesPerRequest;
  const requests = (billed * prices.perMillionRequests) / 1e6;
  const duration = ((usage.awakeMs / 1000) * prices.objectGb * prices.perMillionGbSeconds) / 1e6;
  return { rows, requests, duration, total: rows + requests + duration };
}

/**
 * The cost of 30 days at the rate of a usage.
 * @param countedMs how long the room has been counted
 * @param usedMs the part of that time in which the usage was counted
 * @returns `undefined` where the room has been counted for too short a time
 */
export function monthlyCost(usage: Usage, countedMs: number, usedMs = countedMs): Cost | undefined {
  if (countedMs < MEASURED_MS_MIN) return undefined;
  const { rows, requests, duration, total } = costOf(usage);
  const months = usedMs / MONTH_MS;
  return { rows: rows / months, requests: requests / months, duration: duration / months, total: total / months };
}
