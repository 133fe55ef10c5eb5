// Schemas of the use and the cost of rooms. The HTTP API's calls of use answer with them, and the operator page reads those answers.
import * as z from "zod/mini";

import { atMs, count, type Sent } from "./fields.ts";
import { described, named } from "./described.ts";

/** @param amount a number of anything */
const counts = (amount: z.ZodMiniNumber) => ({
  posted: amount.apply(described, "Messages"),
  delivered: amount.apply(described, "Messages times the connections that they went to"),
  framesIn: amount.apply(described, "Over WebSockets, without heartbeats of a sleeping room"),
  bytesIn: amount,
  framesOut: amount,
  bytesOut: amount,
  opened: amount.apply(described, "Connections that were opened"),
  requests: amount.apply(described, "Billed requests: connects, polls, calls, alarms"),
  rows: amount.apply(described, "Rows written, alarms not among them"),
  alarmsSet: amount,
  alarms: amount.apply(described, "Alarms that went off"),
  awakeSeconds: z.number().check(z.minimum(0)).apply(described, "In which the room could not sleep"),
  wakes: z
    .object({ connect: amount, message: amount, close: amount, alarm: amount, call: amount, watch: amount })
    .apply(described, "By what woke the room; `watch`: an operator"),
});

export const roomUseSchema = z
  .object({ since: atMs("Since when it is counted"), ...counts(count) })
  .apply(named, "RoomUse");

export type RoomUse = Sent<typeof roomUseSchema>;

const dollars = z.number().check(z.minimum(0));

/** Dollars in 30 days; `null` in the first ten minutes. */
export const costSchema = z.nullable(z.object({ rows: dollars, requests: dollars, duration: dollars, total: dollars }));

export type Cost = NonNullable<Sent<typeof costSchema>>;

/** The use of the last hours, by the hour. */
export const recentUseSchema = z.object({ ...counts(z.number().check(z.minimum(0))), monthlyCost: costSchema });

export type RecentUse = Sent<typeof recentUseSchema>;
