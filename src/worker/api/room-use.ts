// The use and the cost of a room as fields of answers of the API. Called by calls/stats.ts for one room, and by the directory for all.
import * as z from "zod/mini";

import type { RoomUsage } from "../../metrics/busiest-rooms.ts";
import { monthlyCost, PRICES } from "../../metrics/cost.ts";
import { HOUR_MS, recentHours, USAGE_NAMES, usageOf, type Usage } from "../../metrics/usage.ts";
import { described, named } from "../../protocol/schemas/described.ts";
import { costSchema, recentUseSchema, roomUseSchema } from "../../protocol/schemas/usage.ts";

/** @param time that goes on for a month */
const costAs = (time: string) =>
  costSchema.apply(
    described,
    `Dollars in 30 days that go on as ${time} did, at the prices of ${PRICES.asOf}, before the plan's included amounts; ` +
      "`null` in the first ten minutes",
  );

const cost = costAs("the time since `since`");

const lately = z
  .object({ ...recentUseSchema.shape, monthlyCost: costAs("the last hours") })
  .apply(described, "The same by the hour: what is an hour old counts half")
  .apply(named, "RecentUse");

/** The fields of an answer that `shownUse` fills. */
export const fieldsOfUse = { use: roomUseSchema, monthlyCost: cost, lately };

export type Used = Pick<RoomUsage, "usage" | "recent">;

/** As the answers have it. */
export function shownUse({ usage, recent, sinceMs }: Used & Pick<RoomUsage, "sinceMs">, nowMs: number): object {
  const countedMs = nowMs - sinceMs;
  const hours = recentHours(countedMs);
  return {
    use: { since: sinceMs, ...counted(usage) },
    monthlyCost: monthlyCost(usage, countedMs) ?? null,
    lately: { ...counted(recent, hours), monthlyCost: monthlyCost(recent, countedMs, hours * HOUR_MS) ?? null },
  };
}

/** @param hours of the use, where it is shown by the hour */
function counted(usage: Usage, hours?: number): object {
  const { awakeMs, wokenByConnect, wokenByMessage, wokenByClose, wokenByAlarm, wokenByCall, wokenByWatch, ...counts } =
    hours === undefined ? usage : hourly(usage, hours);
  const wakes = {
    connect: wokenByConnect,
    message: wokenByMessage,
    close: wokenByClose,
    alarm: wokenByAlarm,
    call: wokenByCall,
    watch: wokenByWatch,
  };
  return { ...counts, awakeSeconds: awakeMs / 1000, wakes };
}

function hourly(usage: Usage, hours: number): Usage {
  return usageOf(USAGE_NAMES.map((name) => Math.round((usage[name] / hours) * 100) / 100));
}
