// The report of a load test for a terminal, in some twenty lines.
import type { LoadReport, Percentiles } from "./report.ts";
import { faultsIn } from "./report.ts";
import { incompleteWords } from "./shortfall.ts";

const ERRORS_SHOWN = 12;
const MIB = 2 ** 20;
/** On a quiet host less than this share is stolen. */
const STOLEN_CORES_HARDLY = 0.02;
const QUICK_MS = 100;

export function textOf(report: LoadReport): string {
  const { connections, messages, latency, faults, missedAway } = report;
  const share = ((connections.in / connections.users) * 100).toFixed(connections.in === connections.users ? 0 : 2);
  const lines = [
    `${report.server}: ${report.asked.users} users in ${report.asked.rooms} rooms, ${seconds(report)} s of posting`,
    `connections  ${connections.in} of ${connections.users} in (${share} %), ${connections.failures} failed attempts, ` +
      `${connections.drops} dropped, ${connections.returns} back, ${connections.recoveries} of them recovered`,
    ...placedOf(report),
    `messages     ${messages.posts} posted (${messages.postsPerSecond.toFixed(1)}/s), ${messages.acks} acked, ` +
      `${messages.refusals} refused, ${messages.unanswered} unanswered, ${messages.unsent} not sent`,
    `             ${messages.deliveries} delivered (${messages.deliveriesPerSecond.toFixed(0)}/s)`,
    `connect      ${row(connections.connect)}`,
    `delivery     ${row(latency.delivery)}`,
    `ack          ${row(latency.ack)}`,
    `             from the moment at which a post was due; posts went out late by p99 ${ms(latency.generatorLate.p99Ms)} ms`,
    `faults       ${faults.lost} lost, ${faults.doubled} doubled, ${faults.outOfOrder} out of order, ` +
      `${faults.disagreeing} disagreeing, ${faults.strayed} strayed, ${faults.ackedAbsent} acked but absent, ` +
      `${faults.unanswered} unanswered over a line that held, ${faults.historiesUnread} histories unread`,
    `             ${historyOf(report)}${missedAway > 0 ? `; ${missedAway} missed while away` : ""}`,
    ...serverOf(report),
    ...stolenOf(report),
    ...errorsOf(report),
    verdictOf(report),
  ];
  return lines.join("\n");
}

/** Measurements while members posted. */
export function inPosting<Sample extends { readonly second: number }>(
  { phases }: Pick<LoadReport, "phases">,
  samples: readonly Sample[],
): Sample[] {
  return samples.filter(({ second }) => second >= phases.postingFrom && second <= phases.postingTo);
}

function placedOf({ placed }: LoadReport): string[] {
  if (!placed) return [];
  const { inRoom, inShards } = placed;
  const [least, most] = [Math.min(...inShards), Math.max(...inShards)];
  const each = least === most ? `${most}` : `${least} to ${most}`;
  const shards = `${inShards.length} shard${inShards.length === 1 ? "" : "s"} with ${each}`;
  return [`places       ${inRoom} in the room itself, ${inShards.length > 0 ? shards : "no shards"}`];
}

const seconds = ({ phases }: LoadReport): string => (phases.postingTo - phases.postingFrom).toFixed(1);

function row({ count, p50Ms, p95Ms, p99Ms, p999Ms, maxMs }: Percentiles): string {
  if (count === 0) return "nothing measured";
  return `p50 ${ms(p50Ms)}  p95 ${ms(p95Ms)}  p99 ${ms(p99Ms)}  p99.9 ${ms(p999Ms)}  max ${ms(maxMs)} ms`;
}

export const ms = (value: number): string => value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0);

function historyOf({ history, faults: { historiesUnread } }: LoadReport): string {
  if (!history) return "histories were not looked up";
  const found = `${history.messages} messages found in the histories of ${history.rooms} rooms`;
  if (historiesUnread === 0) return found;
  const rooms = historiesUnread === 1 ? "1 room" : `${historiesUnread} rooms`;
  return `${found}; NOT of ${rooms}, so acked messages there may not be stored (${history.problem})`;
}

function serverOf({ process, phases }: LoadReport): string[] {
  const samples = inPosting({ phases }, process?.samples ?? []);
  if (samples.length === 0) return [];
  const cores = samples.map((sample) => sample.cores);
  const mean = cores.reduce((sum, value) => sum + value, 0) / cores.length;
  const rss = Math.max(...samples.map((sample) => sample.residentBytes)) / MIB;
  return [
    `server       ${(mean * 100).toFixed(0)} % of a core on average, ${(Math.max(...cores) * 100).toFixed(0)} % at most, ${rss.toFixed(0)} MiB`,
  ];
}

/** How much of the machine was not there, and how the seconds fared in which all of it was. */
function stolenOf(report: LoadReport): string[] {
  const stolen = inPosting(report, report.stolen ?? []);
  if (stolen.length === 0) return [];
  const mean = stolen.reduce((sum, { cores }) => sum + cores, 0) / stolen.length;
  const most = Math.max(...stolen.map(({ cores }) => cores));
  const taken = `its host took ${mean.toFixed(2)} of ${report.machine.cores} cores on average, ${most.toFixed(2)} at most`;
  const undisturbed = new Set(stolen.filter(({ cores }) => cores < STOLEN_CORES_HARDLY).map(({ second }) => second));
  const p99s = inPosting(report, report.seconds).filter(
    ({ second, deliveries }) => deliveries > 0 && undisturbed.has(second),
  );
  if (p99s.length === 0 || undisturbed.size === stolen.length) return [`machine      ${taken}`];
  const median = p99s.map(({ p99Ms }) => p99Ms).toSorted((one, other) => one - other)[p99s.length >> 1]!;
  const under = p99s.filter(({ p99Ms }) => p99Ms < QUICK_MS).length;
  return [
    `machine      ${taken}`,
    `             delivery p99 of a second in which it took nothing: ${ms(median)} ms in the median, under ${QUICK_MS} ms in ${under} of ${p99s.length}`,
  ];
}

function errorsOf({ errors }: LoadReport): string[] {
  const sorted = Object.entries(errors).sort(([, a], [, b]) => b - a);
  const shown = sorted.slice(0, ERRORS_SHOWN).map(([what, count]) => `             ${count} × ${what}`);
  const more = sorted.length - ERRORS_SHOWN;
  return sorted.length === 0 ? [] : ["errors", ...shown, ...(more > 0 ? [`             and ${more} other kinds`] : [])];
}

function verdictOf(report: LoadReport): string {
  const faults = faultsIn(report);
  if (faults > 0) return `FAULTS: ${faults}. The server did not do what it promised.`;
  if (report.outcome === "interrupted") return "Interrupted: no faults up to then.";
  if (report.outcome === "incomplete") return `INCOMPLETE: ${incompleteWords(report)}`;
  return "No faults: nothing lost, doubled or out of order.";
}
