// What the calls about the use of rooms answer with.
import { z } from "zod";

import { PRICES } from "../../metrics/cost.ts";
import { atMs, count, ok, overview } from "./answers.ts";

const dollars = z.number().min(0);

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

const use = z.object({ since: atMs("Since when it is counted"), ...counts(count) }).meta({ id: "RoomUse" });

/** @param time that goes on for a month */
const costAs = (time: string) =>
  z
    .object({ rows: dollars, requests: dollars, duration: dollars, total: dollars })
    .nullable()
    .describe(
      `Dollars in 30 days that go on as ${time} did, at the prices of ${PRICES.asOf}, before what the plan includes; ` +
        "`null` in the first ten minutes",
    );

const cost = costAs("the time since `since`");

const lately = z
  .object({ ...counts(z.number().min(0)), monthlyCost: costAs("the last hours") })
  .describe(
    "The same by the hour, of the last hours: what is an hour old counts half. The first minutes of a room are taken for ten",
  )
  .meta({ id: "RecentUse" });

const connection = z.object({
  id: z.string().describe("Names the connection here; it is not the session id, which stays a secret"),
  user: z.exactOptional(z.string()).describe("Absent before CONNECT"),
  name: z.exactOptional(z.string()),
  role: z.exactOptional(z.string()),
  isWatching: z.exactOptional(z.literal(true)).describe("Of somebody who looks after the room, and is no member"),
  transport: z.enum(["websocket", "polling"]),
  isExtended: z.boolean().describe("Whether it is Parley's own client, for which the room need not wake"),
  since: atMs("When it was opened"),
  lastSeen: atMs("Its last sign of life"),
});

export const stats = z.object({
  ok,
  room: z.string(),
  members: count,
  awake: z
    .object({ since: atMs("When it began to run"), cause: z.string(), detail: z.string() })
    .describe("Why the room runs now; `call`, `stats` where this call woke it"),
  use,
  monthlyCost: cost,
  lately,
  connectionCount: count,
  connections: z.array(connection),
  hasMore: z.boolean(),
});

export const uses = z.object({
  ok,
  rooms: z.array(overview.extend({ connections: count, use, monthlyCost: cost, lately })),
});
