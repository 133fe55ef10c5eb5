// Turns the outcomes of a bench into tables: medians with their range, ratios to Socket.IO on ws, and every fault.
import { addFaults, NO_FAULTS, type Faults } from "./accounting.ts";
import { ONE_OBJECT } from "./big-peers.ts";
import type {
  BigReading,
  EchoReading,
  FollowersReading,
  IdleReading,
  RaceReading,
  StormReading,
  TrafficReading,
} from "./load/job.ts";
import { percent, type EmitsReading, type Outcome } from "./outcome.ts";
import { spreadOf } from "../measuring/statistics.ts";

/** Ratios are to this peer, */
export const REFERENCE_PEER = "socketio-ws";
/** or in these kinds to another one. */
const REFERENCE_PEERS: Partial<Record<AnyReading["kind"], string>> = { big: ONE_OBJECT };

type AnyReading = NonNullable<Outcome["reading"]>;
type Read<Reading> = (reading: Reading) => number;
type Column<Reading> = readonly [
  title: string,
  cell: (readings: readonly Reading[], reference: readonly Reading[]) => string,
];

const KB = 1024;
const RACE_WINDOW_SECONDS = 2;
const NONE = "–";

export function tableOf(run: string, outcomes: readonly Outcome[], titles: ReadonlyMap<string, string>): string {
  const ofRun = outcomes.filter((outcome) => outcome.run === run);
  const kind = ofRun.find(({ reading }) => reading)?.reading?.kind;
  const columns = kind ? COLUMNS[kind] : [];
  const peers = [...new Set(ofRun.map(({ peer }) => peer))];
  const reference = countedOf(ofRun, (kind && REFERENCE_PEERS[kind]) ?? REFERENCE_PEER);
  const rows = peers.map((peer) => {
    const counted = countedOf(ofRun, peer);
    const cells =
      counted.length > 0
        ? columns.map(([, cell]) => cell(counted, reference))
        : [whyNot(ofRun, peer), ...columns.slice(1).map(() => "")];
    return [titles.get(peer) ?? peer, ...cells, ...(kind === "traffic" ? [rateOf(ofRun, peer)] : [])];
  });
  const heads = [run, ...columns.map(([title]) => title), ...(kind === "traffic" ? ["rate held"] : [])];
  return markdown([heads, ...rows]);
}

function countedOf(outcomes: readonly Outcome[], peer: string): AnyReading[] {
  return outcomes.filter((outcome) => outcome.peer === peer && outcome.verdict === "ok").map(({ reading }) => reading!);
}

/** The last word on a peer that gave no number. */
function whyNot(outcomes: readonly Outcome[], peer: string): string {
  const last = outcomes.findLast((outcome) => outcome.peer === peer);
  return last ? `${last.verdict}: ${last.reason ?? ""}` : NONE;
}

function rateOf(outcomes: readonly Outcome[], peer: string): string {
  const shares = outcomes
    .filter((outcome) => outcome.peer === peer && outcome.verdict === "ok")
    .map(({ rateShare }) => rateShare);
  if (shares.length === 0) return NONE;
  const [low, high] = [Math.min(...shares), Math.max(...shares)];
  return low === high ? percent(low) : `${percent(low)} to ${percent(high)}`;
}

// ---- cells ---------------------------------------------------------------------------------------------------

function spread<Reading>(read: Read<Reading>, show: (value: number) => string) {
  return (readings: readonly Reading[]): string => {
    const { median, min, max } = spreadOf(readings.map(read));
    return readings.length === 1 ? show(median) : `${show(median)} [${show(min)}-${show(max)}]`;
  };
}

/** @param isCost less is better */
function ratio<Reading>(read: Read<Reading>, isCost = false) {
  return (readings: readonly Reading[], reference: readonly Reading[]): string => {
    if (reference.length === 0) return NONE;
    const quotient = spreadOf(readings.map(read)).median / spreadOf(reference.map(read)).median;
    const value = isCost ? 1 / quotient : quotient;
    return Number.isFinite(value) ? `${value.toFixed(2)}×` : NONE;
  };
}

function faults(readings: ReadonlyArray<{ readonly faults: Faults }>): string {
  const faults = readings.map((one) => one.faults).reduce(addFaults, NO_FAULTS);
  return [faults.lost, faults.doubled, faults.outOfOrder, faults.disagreeing, faults.strayed].join(" / ");
}

const thousands = (value: number): string => `${Math.round(value / 1000)}k`;
const whole = (value: number): string => String(Math.round(value));
const tenths = (value: number): string => value.toFixed(1);
const kilobytes = (value: number): string => whole(value / KB);

const FAULTS = "lost / doubled / out of order / disagreeing / strayed";

export const perCpuSecond = (reading: TrafficReading): number => reading.deliveries / reading.serverCpuSeconds;
const connectCpuMs = (reading: TrafficReading): number => (reading.connectCpuSeconds * 1000) / reading.members;
const serverBusy = (reading: { serverCpuSeconds: number; wallSeconds: number }): number =>
  reading.serverCpuSeconds / reading.wallSeconds;
const generatorBusy = (reading: { generatorBusy: number }): number => reading.generatorBusy;

const TRAFFIC: readonly Column<TrafficReading>[] = [
  ["deliveries / CPU-s", spread(perCpuSecond, thousands)],
  ["ratio", ratio(perCpuSecond)],
  ["p50 ms", spread((one) => one.p50Ms, tenths)],
  ["p95 ms", spread((one) => one.p95Ms, tenths)],
  ["p99 ms", spread((one) => one.p99Ms, tenths)],
  ["ack p50 ms", spread((one) => one.ackP50Ms, tenths)],
  [FAULTS, faults],
  ["server busy", spread(serverBusy, percent)],
  ["generator busy", spread(generatorBusy, percent)],
  ["CPU ms / connect", spread(connectCpuMs, (ms) => ms.toFixed(2))],
  ["KB / connection", spread((one) => one.connectedBytes / one.members, kilobytes)],
  ["generator late, p99 ms", spread((one) => one.lagP99Ms, tenths)],
];

const cpuPerDelivery = ({ serverCpuSeconds, deliveries }: BigReading): number => serverCpuSeconds / deliveries;

/** The difference of the medians. */
function beyond<Reading>(read: Read<Reading>) {
  return (readings: readonly Reading[], reference: readonly Reading[]): string => {
    if (reference.length === 0) return NONE;
    return tenths(spreadOf(readings.map(read)).median - spreadOf(reference.map(read)).median);
  };
}

const BIG: readonly Column<BigReading>[] = [
  ["CPU µs / delivery", spread((one) => cpuPerDelivery(one) * 1e6, tenths)],
  ["ratio", ratio(cpuPerDelivery)],
  ["p50 ms", spread((one) => one.p50Ms, tenths)],
  ["p95 ms", spread((one) => one.p95Ms, tenths)],
  ["p99 ms", spread((one) => one.p99Ms, tenths)],
  ["hop, p50 ms", beyond((one) => one.p50Ms)],
  ["hop, p99 ms", beyond((one) => one.p99Ms)],
  ["ack p99 ms", spread((one) => one.ackP99Ms, tenths)],
  [FAULTS, faults],
  ["broken connections", spread(({ broken }) => broken.members, whole)],
  ["all back, s", spread(({ broken }) => broken.backMs / 1000, tenths)],
  ["recovered", spread(({ broken }) => broken.recovered, whole)],
  ["others, p99 ms", spread(({ broken }) => broken.othersP99Ms, tenths)],
  ["others, hop, p99 ms", beyond(({ broken }) => broken.othersP99Ms)],
  ["server busy", spread(serverBusy, percent)],
  ["generator busy", spread(generatorBusy, percent)],
  [
    "CPU ms / connect",
    spread(
      (one) => (one.connectCpuSeconds * 1000) / one.members,
      (ms) => ms.toFixed(2),
    ),
  ],
  ["KB / connection", spread((one) => one.connectedBytes / one.members, kilobytes)],
];

const ECHO: readonly Column<EchoReading>[] = [
  [
    "p50 ms",
    spread(
      (one) => one.p50Ms,
      (ms) => ms.toFixed(2),
    ),
  ],
  [
    "p95 ms",
    spread(
      (one) => one.p95Ms,
      (ms) => ms.toFixed(2),
    ),
  ],
  [
    "p99 ms",
    spread(
      (one) => one.p99Ms,
      (ms) => ms.toFixed(2),
    ),
  ],
  ["server CPU µs / post", spread((one) => (one.serverCpuSeconds / one.posts) * 1e6, whole)],
  [FAULTS, faults],
];

const STORM: readonly Column<StormReading>[] = [
  [
    "all caught up, s",
    spread(
      (one) => one.caughtUpMs / 1000,
      (seconds) => seconds.toFixed(2),
    ),
  ],
  ["time against the reference", ratio((one) => one.caughtUpMs)],
  [
    "all in, s",
    spread(
      (one) => one.joinedMs / 1000,
      (seconds) => seconds.toFixed(2),
    ),
  ],
  ["recovered", spread((one) => one.recovered, whole)],
  ["server CPU s", spread((one) => one.serverCpuSeconds, tenths)],
  [FAULTS, faults],
];

const IDLE: readonly Column<IdleReading>[] = [
  ["KB / connection, awake", spread((one) => one.awakeBytesPerConnection, kilobytes)],
  ["asleep", spread((one) => one.asleepBytesPerConnection, kilobytes)],
  [
    "CPU s / minute",
    spread(
      (one) => one.cpuSecondsPerMinute,
      (seconds) => seconds.toFixed(2),
    ),
  ],
  ["server pings", spread((one) => one.pings, whole)],
  ["databases written", spread((one) => one.databasesWritten, whole)],
  ["connects / s", spread((one) => one.connectsPerSecond, whole)],
];

const EMITS: readonly Column<EmitsReading>[] = [
  ["seconds", spread((one) => one.wallSeconds, tenths)],
  ["emits / s", spread((one) => one.count / one.wallSeconds, thousands)],
  ["ratio", ratio((one) => one.wallSeconds, true)],
  ["server CPU s", spread((one) => one.serverCpuSeconds, tenths)],
];

/** Of all announcements but the first, before which the server had not located the users. */
const medianLastMs = ({ lastMs }: FollowersReading): number => spreadOf(lastMs.slice(1)).median;
const largestLastMs = ({ lastMs }: FollowersReading): number => Math.max(...lastMs.slice(1));

const FOLLOWERS: readonly Column<FollowersReading>[] = [
  ["p50 ms", spread((one) => one.p50Ms, whole)],
  ["p99 ms", spread((one) => one.p99Ms, whole)],
  ["the last has it, ms", spread(medianLastMs, whole)],
  ["at worst", spread(largestLastMs, whole)],
  ["the first time", spread((one) => one.lastMs[0]!, whole)],
  ["server CPU ms each", spread((one) => one.cpuMsPerAnnouncement, whole)],
  [FAULTS, faults],
  ["not found", spread((one) => Math.max(0, ...one.absent), whole)],
  ["chat p99 ms before", spread((one) => one.chatP99Ms.before, tenths)],
  ["meanwhile", spread((one) => one.chatP99Ms.during, tenths)],
  ["chat, faults", (readings) => faults(readings.map(({ chatFaults }) => ({ faults: chatFaults })))],
];

const RACE: readonly Column<RaceReading>[] = [
  [
    "clients held",
    (readings) => readings.map((one) => `${one.held.clients}${one.endedBy === "server" ? "" : " and more"}`).join(", "),
  ],
  ["p50 ms there", spread((one) => one.held.p50Ms, tenths)],
  ["p95 ms", spread((one) => one.held.p95Ms, tenths)],
  ["keystroke to own screen, p95 ms", spread((one) => one.held.keystrokeP95Ms, tenths)],
  ["keystrokes / s", spread((one) => one.held.keystrokes / RACE_WINDOW_SECONDS, whole)],
  ["frames of progress / s", spread((one) => one.held.deliveries / RACE_WINDOW_SECONDS, thousands)],
  ["server busy", spread((one) => one.held.serverBusy, percent)],
  ["KB / client", spread((one) => (one.held.residentBytes - one.emptyBytes) / one.held.clients, kilobytes)],
  ["generator busy", spread(generatorBusy, percent)],
  ["finishes", spread((one) => one.finishes, whole)],
  ["late keystrokes", spread((one) => one.refusals, whole)],
];

/** A run's readings are all of one kind, which the compiler cannot see. */
const COLUMNS = {
  traffic: TRAFFIC,
  big: BIG,
  echo: ECHO,
  storm: STORM,
  idle: IDLE,
  emits: EMITS,
  followers: FOLLOWERS,
  race: RACE,
} as unknown as Record<AnyReading["kind"], readonly Column<AnyReading>[]>;

// ---- layout --------------------------------------------------------------------------------------------------

/** @param rows the first is the head */
export function markdown(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
  const line = (row: readonly string[]): string =>
    `| ${widths.map((width, column) => (row[column] ?? "").padEnd(width)).join(" | ")} |`;
  const rule = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`;
  return [line(rows[0]!), rule, ...rows.slice(1).map(line)].join("\n");
}
