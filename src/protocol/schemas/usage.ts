// Schemas of what rooms use and cost. The HTTP API's calls of use answer with them, and the operator page reads those answers.
import * as z from "zod";

import { atMs, count, type Sent } from "./fields.ts";

/** @param amount a number of anything */
const counts = (amount: z.ZodNumber) => ({
  posted: amount.describe("Messages"),
  delivered: amount.describe("Messages times the connections that they went to"),
  framesIn: amount.describe("Over WebSockets, heartbeats of a sleeping room not among them"),
  bytesIn: amount,
  framesOut: amount,
  bytesOut: amount,
  opened: amount.describe("Connections that were opened"),
  requests: amount.describe("What is billed as requests besides incoming frames: connects, polls, calls, alarms"),
  rows: amount.describe("Rows written, alarms not among them"),
  alarmsSet: amount,
  alarms: amount.describe("Alarms that went off"),
  awakeSeconds: z.number().min(0).describe("In which the room could not sleep"),
  wakes: z
    .object({ connect: amount, message: amount, close: amount, alarm: amount, call: amount, watch: amount })
    .describe("By what woke the room; `watch` is a connection of somebody who looks after it"),
});

export const roomUseSchema = z
  .object({ since: atMs("Since when it is counted"), ...counts(count) })
  .meta({ id: "RoomUse" });

export type RoomUse = Sent<typeof roomUseSchema>;

const dollars = z.number().min(0);

/** Dollars in 30 days; `null` in the first ten minutes. */
export const costSchema = z.object({ rows: dollars, requests: dollars, duration: dollars, total: dollars }).nullable();

export type Cost = NonNullable<Sent<typeof costSchema>>;

/** The use of the last hours, by the hour. */
export const recentUseSchema = z.object({ ...counts(z.number().min(0)), monthlyCost: costSchema });

export type RecentUse = Sent<typeof recentUseSchema>;
