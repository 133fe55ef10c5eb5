// A bill for a terminal: its lines, prices of other providers, and the changes that would double it.
import type { Bill } from "./bill.ts";
import type { Workload } from "./model.ts";
import type { PeerCost } from "./peers.ts";
import type { Sensitivity } from "./sensitivity.ts";

const BAR_CHARS = 36;
/** Bars are logarithmic: beside a linear bar of a hundred times the size all others would vanish. */
export const logShare = (dollars: number, most: number): number => Math.log10(1 + dollars) / Math.log10(1 + most);
const EIGHTHS = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

export interface Comparison {
  readonly workload: Workload;
  readonly bill: Bill;
  readonly peers: readonly PeerCost[];
}

export interface CostReport {
  readonly lookedUp: string;
  readonly asked: Comparison;
  readonly remarks: readonly string[];
  /** The same habits with the number of people for which all providers publish prices. */
  readonly scaled: readonly Comparison[];
  readonly sensitivities: readonly Sensitivity[];
  readonly missing: readonly string[];
}

export function textOf({ lookedUp, asked, remarks, scaled, sensitivities, missing }: CostReport): string {
  return [
    titleOf(asked.workload),
    ...remarks,
    "",
    ...billLines(asked.bill),
    "",
    "Elsewhere (bars as long as the logarithm)",
    ...[asked, ...scaled].flatMap((comparison) => ["", ...comparisonLines(comparison)]),
    "",
    "What would double the bill",
    ...sensitivities.map(sensitivityLine),
    "",
    `Prices as of ${lookedUp}, with their sources: scripts/cost/prices.json. Without figures: ${missing.join(" ")}`,
    "Heartbeats are reckoned as incoming messages, which Cloudflare does not say they are.",
  ].join("\n");
}

export function titleOf({ users, rooms, messagesPerUserMinute, onlineHours }: Workload): string {
  return `${count(users)} users in ${count(rooms)} rooms, ${Number(messagesPerUserMinute.toFixed(3))} messages per user and minute, ${onlineHours} h a day`;
}

function billLines({ lines, total }: Bill): string[] {
  const shown = lines.filter(({ dollars, quantity }) => dollars > 0 || quantity > 0);
  const row = (item: string, quantity: string, included: string, dollars: string): string =>
    `${item.padEnd(28)}${quantity.padStart(22)}${included.padStart(18)}${dollars.padStart(14)}`;
  return [
    row("a month", "", "included", ""),
    ...shown.map(({ item, quantity, unit, included, dollars }) =>
      row(item, `${count(quantity)} ${unit}`, included > 0 ? count(included) : "", money(dollars)),
    ),
    row("total", "", "", money(total)),
  ];
}

function comparisonLines({ workload, bill, peers }: Comparison): string[] {
  const all = [{ name: "Parley", dollars: bill.total, how: "" }, ...peers];
  const most = Math.max(...all.map(({ dollars }) => dollars ?? 0));
  return [
    titleOf(workload),
    ...all.flatMap(({ name, dollars, how }) => [
      `  ${name.padEnd(40)}${(dollars === undefined ? "on request" : money(dollars)).padStart(13)}  ${bar(logShare(dollars ?? 0, most))}`,
      ...(how ? [`      ${how}`] : []),
    ]),
  ];
}

function bar(share: number): string {
  const eighths = Math.round(share * BAR_CHARS * 8);
  return "█".repeat(Math.trunc(eighths / 8)) + EIGHTHS[eighths % 8]!;
}

function sensitivityLine({ what, now, totalIfTwice, doublesAt }: Sensitivity): string {
  const doubles = doublesAt === undefined ? "nothing within reach doubles it" : `doubles it at ${about(doublesAt)}`;
  return `  ${what.padEnd(34)}now ${count(now).padStart(9)}   twice as much: ${money(totalIfTwice).padStart(10)}   ${doubles}`;
}

export function money(dollars: number): string {
  return `$${dollars.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
}

/** The value of a number, rounded: it is not known more precisely. */
export const about = (value: number): string => count(Number(value.toPrecision(3)));

export function count(value: number): string {
  if (value >= 1e9) return `${Number((value / 1e9).toFixed(2))} G`;
  if (value >= 1e6) return `${Number((value / 1e6).toFixed(2))} M`;
  return Number(value.toPrecision(value < 1 ? 2 : 6)).toLocaleString("en-US", {
    maximumFractionDigits: value < 1 ? 4 : 2,
  });
}
