// The workload of a bill: from the command line of `npm run cost`, from the JSON of a load test, and from defaults; and the bill as a report.
// Pure. Called by cost.ts.
import { parseArgs } from "node:util";

import * as z from "zod";

import { PRICES } from "../../src/metrics/cost.ts";
import { number, UsageError, whole, type Values } from "../options.ts";
import { billOf, quantitiesOf, shardsOf, USUAL, type Usage } from "./bill.ts";
import { shortfallsOf } from "./reading.ts";
import { FILE_OPTIONS, type Files, type Report } from "./report.ts";

/** The setting MAX_SHARDS: its default and its upper bound. */
const SHARDS_USUAL = 64;
const SHARDS_MAX = 1000;

interface Option {
  readonly name: Exclude<keyof Usage, "rowsPerMessage">;
  readonly min: number;
  readonly max: number;
  readonly isWhole?: true;
}

const OPTIONS: Readonly<Record<string, Option>> = {
  users: { name: "users", min: 1, max: 1e9, isWhole: true },
  rooms: { name: "rooms", min: 1, max: 1e9, isWhole: true },
  shim: { name: "shimShare", min: 0, max: 1 },
  polling: { name: "pollingShare", min: 0, max: 1 },
  "messages-per-user-minute": { name: "messagesPerUserMinute", min: 0, max: 60_000 },
  payload: { name: "payloadBytes", min: 1, max: 65_536 },
  "online-hours": { name: "onlineHours", min: 0, max: 24 },
  "connects-per-user-day": { name: "connectsPerUserDay", min: 0, max: 100_000 },
  "history-days": { name: "historyDays", min: 0, max: 3650 },
  "max-members": { name: "maxMembers", min: 1, max: 32_768, isWhole: true },
  "handler-ms": { name: "handlerMs", min: 0, max: 60_000 },
};

interface CostArguments extends Files {
  readonly from: string | undefined;
  /** Only the given numbers, without defaults. */
  readonly usage: Partial<Usage>;
}

/** @throws UsageError with the wrong argument, and its allowed values */
export function readArguments(args: readonly string[]): CostArguments {
  const names = [...Object.keys(OPTIONS), "from"];
  const options = Object.fromEntries(names.map((name) => [name, { type: "string" } as const]));
  const values = parseArgs({ args: [...args], options: { ...options, ...FILE_OPTIONS } }).values as Values;
  const given = Object.entries(OPTIONS).filter(([option]) => values[option] !== undefined);
  const usage = given.map(([option, { name, min, max, isWhole }]) => [
    name,
    (isWhole ? whole : number)(values, option, USUAL[name], min, max),
  ]);
  const { from, json, html } = values as Record<string, string | undefined>;
  return { usage: Object.fromEntries(usage) as Partial<Usage>, from, json, html };
}

const readingSchema = z.object({
  format: z.literal(2),
  workload: z.object({ rooms: z.number(), own: z.number(), polling: z.number(), payloadBytes: z.number() }),
  phases: z.object({ postingFrom: z.number(), postingTo: z.number() }),
  connections: z.object({ users: z.number(), in: z.number(), away: z.number() }),
  messages: z.object({
    posts: z.number(),
    acks: z.number(),
    unsent: z.number(),
    refusals: z.number(),
    unanswered: z.number(),
  }),
  counted: z.object({ posts: z.number().optional(), commits: z.number().optional() }).optional(),
});

export type Ran = z.infer<typeof readingSchema>;

/** @throws Error with the field that does not fit */
export function parseRun(text: string, file: string): Ran {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new Error(`${file} is no JSON.`);
  }
  const parsed = readingSchema.safeParse(json);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Error(`${file} is no report of npm run load: ${issue!.path.join(".")}: ${issue!.message}`);
}

/** @throws Error if no member posted, with the reason */
function usageOf({ workload, messages, connections, phases, counted }: Ran): Partial<Usage> {
  const minutes = (phases.postingTo - phases.postingFrom) / 60;
  if (connections.in === 0 || minutes <= 0)
    throw new Error("There is no workload in this load test: no user got in, or it ended before the first post.");
  return {
    users: connections.in,
    rooms: workload.rooms,
    messagesPerUserMinute: messages.acks / connections.in / minutes,
    shimShare: workload.own,
    pollingShare: workload.polling,
    payloadBytes: workload.payloadBytes,
    ...(counted?.commits && counted.posts && { rowsPerMessage: counted.commits / counted.posts }),
  };
}

/** @throws Error if there can be no such workload */
export function costReport(wished: Partial<Usage>, run?: Ran): Report {
  const asked: Usage = { ...USUAL, ...(run && usageOf(run)), ...wished };
  const { shimShare, pollingShare } = asked;
  if (shimShare + pollingShare > 1)
    throw new UsageError(`--shim and --polling must not exceed 1 together: they are ${shimShare} and ${pollingShare}.`);
  const usage = { ...asked, rooms: Math.min(asked.rooms, asked.users) };
  const { users, rooms, messagesPerUserMinute, onlineHours } = usage;
  const bill = billOf(quantitiesOf(usage));
  return {
    title: `${money(bill.total)} a month`,
    subtitle: `${count(users)} users in ${count(rooms)} rooms, ${Number(messagesPerUserMinute.toFixed(3))} messages per user and minute, ${onlineHours} h a day`,
    sections: [
      {
        title: "By line item",
        table: [
          ["a month", "quantity", "included", "dollars"],
          ...bill.lines.map(({ item, quantity, unit, included, dollars }) => [
            item,
            `${count(quantity)} ${unit}`,
            included > 0 ? count(included) : "",
            money(dollars),
          ]),
          ["total", "", "", money(bill.total)],
        ],
        notes: [
          ...remarksOn(asked, usage, run),
          `Prices as of ${PRICES.asOf}: ${PRICES.source}`,
          "Heartbeats are reckoned as incoming messages, which Cloudflare does not say they are.",
        ],
      },
    ],
    data: { asOf: PRICES.asOf, usage, bill },
  };
}

/** Warnings for the reader of the bill. */
function remarksOn(asked: Usage, usage: Usage, run: Ran | undefined): string[] {
  const shortfalls = run ? shortfallsOf(run) : [];
  const [empty, shards] = [asked.rooms - usage.rooms, shardsOf(usage)];
  return [
    ...(shortfalls.length > 0
      ? [`The load test was not whole: ${shortfalls.join("; ")}. The bill is for what did happen.`]
      : []),
    ...(usage.rowsPerMessage === undefined
      ? ["Rows: at most one per message, and at most one per room and 50 ms."]
      : [`Rows per message: ${usage.rowsPerMessage.toFixed(2)}, as the load test counted.`]),
    ...(empty > 0
      ? [
          `Of ${count(asked.rooms)} rooms at least ${count(empty)} are empty, and cost nothing: this bill is for ${count(usage.rooms)}.`,
        ]
      : []),
    ...(shards > 0 ? [crowding(usage, shards)] : []),
  ];
}

function crowding({ users, rooms, maxMembers }: Usage, shards: number): string {
  const held = `${count(users / rooms)} users to a room are more than one object holds (MAX_MEMBERS is ${count(maxMembers)})`;
  const taking = `the room takes ${count(shards)} shard${shards === 1 ? "" : "s"} besides`;
  if (shards <= SHARDS_USUAL) return `${held}: ${taking}.`;
  const usual = `MAX_SHARDS is ${count(SHARDS_USUAL)} if nothing else is set, and ${count(SHARDS_MAX)} at most`;
  return `${held}: ${taking}, and ${usual}.${shards > SHARDS_MAX ? " No server has this bill." : ""}`;
}

const money = (dollars: number): string =>
  `$${dollars.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;

function count(value: number): string {
  if (value >= 1e9) return `${Number((value / 1e9).toFixed(2))} G`;
  if (value >= 1e6) return `${Number((value / 1e6).toFixed(2))} M`;
  return Number(value.toPrecision(6)).toLocaleString("en-US", { maximumFractionDigits: 2 });
}
