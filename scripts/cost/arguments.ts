// The command line of `npm run cost`. Pure; every mistake is named.
import { parseArgs } from "node:util";

import { number, whole, type Values } from "../measuring/option-values.ts";
import { WORKLOAD, type Workload } from "./model.ts";

export interface CostArguments {
  readonly fromFile?: string;
  readonly jsonFile?: string;
  readonly htmlFile?: string;
  /** Only the given options, without defaults. */
  readonly workload: Partial<Workload>;
}

type NumberName = { [Name in keyof Workload]: Workload[Name] extends number ? Name : never }[keyof Workload];

interface Option {
  readonly option: string;
  readonly name: NumberName;
  readonly min: number;
  readonly max: number;
  readonly isWhole?: true;
}

const OPTIONS: readonly Option[] = [
  { option: "users", name: "users", min: 1, max: 1e9, isWhole: true },
  { option: "rooms", name: "rooms", min: 1, max: 1e9, isWhole: true },
  { option: "shim", name: "shimShare", min: 0, max: 1 },
  { option: "polling", name: "pollingShare", min: 0, max: 1 },
  { option: "messages-per-user-minute", name: "messagesPerUserMinute", min: 0, max: 60_000 },
  { option: "payload", name: "payloadBytes", min: 1, max: 65_536 },
  { option: "reads", name: "readsPerUserMinute", min: 0, max: 60_000 },
  { option: "events", name: "eventsPerUserMinute", min: 0, max: 60_000 },
  { option: "online-hours", name: "onlineHours", min: 0, max: 24 },
  { option: "connects-per-user-day", name: "connectsPerUserDay", min: 0, max: 100_000 },
  { option: "history-days", name: "historyDays", min: 0, max: 3650 },
  { option: "history-messages", name: "historyMessages", min: 1, max: 1e9, isWhole: true },
  { option: "uploads-per-user-day", name: "uploadsPerUserDay", min: 0, max: 10_000 },
  { option: "upload-bytes", name: "uploadBytes", min: 1, max: 1e9 },
  { option: "max-members", name: "maxMembers", min: 1, max: 32_768, isWhole: true },
  { option: "flush-window-ms", name: "flushWindowMs", min: 0, max: 10_000 },
  { option: "flush-burst", name: "flushBurst", min: 1, max: 64, isWhole: true },
  { option: "ping-interval-seconds", name: "pingIntervalSeconds", min: 1, max: 3600 },
  { option: "handler-ms", name: "handlerMs", min: 0, max: 60_000 },
  { option: "relay", name: "relayShare", min: 0, max: 1 },
];

/** @throws Error with the wrong argument, and its allowed values */
export function readArguments(args: readonly string[]): CostArguments {
  const text = { type: "string" } as const;
  const names = [...OPTIONS.map(({ option }) => option), "durability", "from", "json", "html"];
  const { values } = parseArgs({ args: [...args], options: Object.fromEntries(names.map((name) => [name, text])) });
  const { from, json, html } = values as Record<string, string | undefined>;
  const workload = { ...numbersFrom(values), ...durabilityFrom(values["durability"]) };
  requireShares(workload);
  return {
    workload,
    ...(from !== undefined && { fromFile: from }),
    ...(json !== undefined && { jsonFile: json }),
    ...(html !== undefined && { htmlFile: html }),
  };
}

function numbersFrom(values: Values): Partial<Workload> {
  const given = OPTIONS.filter(({ option }) => values[option] !== undefined);
  return Object.fromEntries(
    given.map(({ option, name, min, max, isWhole }) => [
      name,
      (isWhole ? whole : number)(values, option, WORKLOAD[name], min, max),
    ]),
  );
}

/** @throws Error where they are of more than all users */
export function requireShares({ shimShare = 0, pollingShare = 0 }: Partial<Workload>): void {
  if (shimShare + pollingShare > 1)
    throw new Error(`--shim and --polling must not exceed 1 together: they are ${shimShare} and ${pollingShare}.`);
}

function durabilityFrom(durability: string | boolean | undefined): Pick<Workload, "durability"> | undefined {
  if (durability === undefined) return undefined;
  if (durability !== "strict" && durability !== "relaxed")
    throw new Error(`--durability must be strict or relaxed, not "${String(durability)}".`);
  return { durability };
}
