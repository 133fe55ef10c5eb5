// The tables of the bench: medians with their range, and ratios to the first peer. Pure. Called by bench.ts.
import { faultsIn, type Reading } from "./reading.ts";
import { percent, type Outcome } from "./verdict.ts";

const NONE = "–";

interface Column {
  readonly title: string;
  readonly cell: (outcomes: readonly Counted[], reference: readonly Counted[]) => string;
}

type Counted = Outcome & { readonly reading: Reading };
type Read = (reading: Reading) => number;

const whole = (value: number): string => String(Math.round(value));
const tenths = (value: number): string => value.toFixed(1);
const hundredths = (value: number): string => value.toFixed(2);
const thousands = (value: number): string => `${whole(value / 1000)}k`;
const kilobytes = (value: number): string => whole(value / 1024);

function spread(title: string, read: Read, show: (value: number) => string): Column {
  const cell = (outcomes: readonly Counted[]): string => {
    const values = outcomes.map(({ reading }) => read(reading));
    const middle = show(median(values));
    return values.length === 1 ? middle : `${middle} [${show(Math.min(...values))}-${show(Math.max(...values))}]`;
  };
  return { title, cell };
}

function ratio(title: string, read: Read): Column {
  const middle = (outcomes: readonly Counted[]): number => median(outcomes.map(({ reading }) => read(reading)));
  return {
    title,
    cell: (outcomes, reference) =>
      reference.length === 0 ? NONE : `${(middle(outcomes) / middle(reference)).toFixed(2)}×`,
  };
}

/** @returns NaN for no numbers */
function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const upper = sorted[sorted.length >> 1] ?? NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[(sorted.length >> 1) - 1] ?? NaN) + upper) / 2;
}

const perCpuSecond: Read = ({ measured }) => measured.deliveries / measured.serverCpuSeconds;
const usersOf: Read = ({ workload }) => workload.users;
const caughtUp: Read = ({ broken }) => (broken?.caughtUpMs ?? NaN) / 1000;

const COLUMNS = {
  perCpuSecond: spread("deliveries / CPU-s", perCpuSecond, thousands),
  ratio: ratio("ratio", perCpuSecond),
  cpuPerDelivery: spread("CPU µs / delivery", (one) => 1e6 / perCpuSecond(one), tenths),
  cpuPerPost: spread("CPU µs / post", ({ measured }) => (measured.serverCpuSeconds / measured.posts) * 1e6, whole),
  p50: spread("p50 ms", ({ latency }) => latency.delivery.p50Ms, tenths),
  p95: spread("p95 ms", ({ latency }) => latency.delivery.p95Ms, tenths),
  p99: spread("p99 ms", ({ latency }) => latency.delivery.p99Ms, tenths),
  ackP50: spread("ack p50 ms", ({ latency }) => latency.ack.p50Ms, hundredths),
  ackP95: spread("ack p95 ms", ({ latency }) => latency.ack.p95Ms, hundredths),
  ackP99: spread("ack p99 ms", ({ latency }) => latency.ack.p99Ms, hundredths),
  serverBusy: spread("server busy", ({ measured }) => measured.serverCpuSeconds / measured.seconds, percent),
  generatorBusy: spread("generator busy", ({ measured }) => measured.generatorBusy, percent),
  cpuPerConnect: spread(
    "CPU ms / connect",
    (one) => (one.connections.serverCpuSeconds * 1000) / usersOf(one),
    hundredths,
  ),
  kbPerConnection: spread("KB / connection", (one) => one.connections.residentBytes / usersOf(one), kilobytes),
  kbAsleep: spread("asleep", (one) => one.measured.residentBytes / usersOf(one), kilobytes),
  cpuPerMinute: spread(
    "CPU s / minute",
    ({ measured }) => (measured.serverCpuSeconds / measured.seconds) * 60,
    hundredths,
  ),
  pings: spread("server pings", ({ measured }) => measured.pings, whole),
  allBack: spread("all back, s", ({ broken }) => (broken?.backMs ?? NaN) / 1000, hundredths),
  caughtUp: spread("all caught up, s", caughtUp, hundredths),
  caughtUpRatio: ratio("time against the reference", caughtUp),
  recovered: spread("recovered", ({ broken }) => broken?.recovered ?? 0, whole),
  cpuOfReturn: spread("server CPU s", ({ broken }) => broken?.serverCpuSeconds ?? NaN, tenths),
  faults: {
    title: "faults",
    cell: (outcomes) => String(outcomes.reduce((sum, { reading }) => sum + faultsIn(reading), 0)),
  },
  rateHeld: {
    title: "rate held",
    cell: (outcomes) => {
      const shares = outcomes.map(({ rateShare }) => rateShare);
      const [low, high] = [Math.min(...shares), Math.max(...shares)];
      return low === high ? percent(low) : `${percent(low)} to ${percent(high)}`;
    },
  },
} as const satisfies Record<string, Column>;

export type ColumnName = keyof typeof COLUMNS;

/** @param peers with their titles; the first is the reference */
export function rowsOf(
  { label: run, columns: names }: { readonly label: string; readonly columns: readonly ColumnName[] },
  outcomes: readonly Outcome[],
  peers: ReadonlyMap<string, string>,
): string[][] {
  const columns: Column[] = names.map((name) => COLUMNS[name]);
  const ofRun = outcomes.filter((outcome) => outcome.run === run);
  const counted = (peer: string | undefined): Counted[] =>
    ofRun.filter((one): one is Counted => one.peer === peer && one.verdict === "ok" && one.reading !== undefined);
  const reference = counted([...peers.keys()][0]);
  const rows = [...peers].map(([peer, title]) => {
    const own = counted(peer);
    if (own.length > 0) return [title, ...columns.map(({ cell }) => cell(own, reference))];
    const last = ofRun.findLast((outcome) => outcome.peer === peer);
    return [title, last ? `${last.verdict}: ${last.reason ?? ""}` : NONE];
  });
  return [[run, ...columns.map(({ title }) => title)], ...rows];
}
