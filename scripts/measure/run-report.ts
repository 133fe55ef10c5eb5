// The report of a load test or of crashes: what arrived, how soon, and at what cost. Pure. Called by load.ts and crash.ts.
import { shortNumber, type Line } from "./charts.ts";
import type { Percentiles } from "./latencies.ts";
import { faultsIn, shortfallsOf, type Reading, type SecondRow } from "./reading.ts";
import type { Report, Section } from "./report.ts";

const MIB = 2 ** 20;
const ERRORS_SHOWN = 12;
const NINES_MAX = 5;
/** Where the tail's axis has its labels: each as far from the next as it is closer to all. */
const TAIL_TICKS = [0.5, 0.9, 0.99, 0.999, 0.9999, 1];
const ALL_WELL = "No faults: nothing lost, doubled or out of order.";

export function reportOf(title: string, reading: Reading): Report {
  const { workload, phases, startedAt } = reading;
  return {
    title,
    subtitle:
      `${startedAt.slice(0, 16).replace("T", " ")} UTC: ${workload.users} users in ${workload.rooms} rooms, ` +
      `${workload.postsPerUserPerSecond} posts per user and second of ${workload.payloadBytes} bytes, ` +
      `${(phases.postingTo - phases.postingFrom).toFixed(1)} s of posting`,
    verdict: verdictOf(reading),
    sections: [
      countsOf(reading),
      latenciesOf(reading),
      overTime(reading),
      faultsOf(reading),
      errorsOf(reading),
      machineOf(reading),
    ],
    data: reading,
  };
}

function verdictOf(reading: Reading): NonNullable<Report["verdict"]> {
  switch (reading.outcome) {
    case "faults":
      return { words: `FAULTS: ${faultsIn(reading)}. The server did not do what it promised.`, isGood: false };
    case "interrupted":
      return { words: "Interrupted: no faults up to then." };
    case "incomplete": {
      const held =
        reading.messages.posts === 0 ? "Nothing was posted." : "No posted message was lost, doubled or out of order.";
      return { words: `INCOMPLETE: ${shortfallsOf(reading).join("; ")}. ${held}` };
    }
    case "clean":
      return { words: ALL_WELL, isGood: true };
  }
}

function countsOf({ connections: of, messages, measured }: Reading): Section {
  const share = ((of.in / of.users) * 100).toFixed(of.in === of.users ? 0 : 2);
  const perSecond = (count: number): string => (count / (measured.seconds || 1)).toFixed(1);
  const { posts, acks, refusals, unanswered, unsent, deliveries } = messages;
  return {
    title: "What happened",
    notes: [
      `connections  ${of.in} of ${of.users} in (${share} %), ${of.failures} failed attempts, ${of.drops} dropped, ` +
        `${of.returns} back, ${of.recoveries} of them recovered`,
      `messages     ${posts} posted (${perSecond(measured.posts)}/s), ${acks} acked, ${refusals} refused, ` +
        `${unanswered} unanswered, ${unsent} not sent`,
      `             ${deliveries} delivered (${perSecond(measured.deliveries)}/s)`,
    ],
  };
}

function latenciesOf({ latency: { delivery, ack, connect, generatorLate } }: Reading): Section {
  const row = (name: string, { count, ...one }: Percentiles): string[] => [
    name,
    ...[one.p50Ms, one.p90Ms, one.p95Ms, one.p99Ms, one.p999Ms, one.maxMs].map((value) =>
      count === 0 ? "–" : ms(value),
    ),
    shortNumber(count),
  ];
  return {
    title: "Latency",
    table: [
      ["ms", "p50", "p90", "p95", "p99", "p99.9", "max", "count"],
      row("delivery", delivery),
      row("ack", ack),
      row("connect", connect),
      row("the generator's own lateness", generatorLate),
    ],
    notes: [
      "Latency runs from the moment at which a post was due, decided beforehand: a server that stalls is charged for all that waited meanwhile.",
    ],
  };
}

export const ms = (value: number): string => value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0);

function faultsOf({ faults, missedAway, history }: Reading): Section {
  const found = history && `${history.messages} messages found in the histories of ${history.rooms} rooms`;
  const rooms = faults.unread === 1 ? "1 room" : `${faults.unread} rooms`;
  return {
    title: "Faults",
    table: [
      ["faults", "count"],
      ["lost: due to a member, and never seen", String(faults.lost)],
      ["doubled: seen again", String(faults.doubled)],
      ["out of order: seen after a later one", String(faults.outOfOrder)],
      ["disagreeing: another message at the same place", String(faults.disagreeing)],
      ["repeated: one message at two places", String(faults.repeated)],
      ["strayed: seen in another room", String(faults.strayed)],
      ["acked or shown, and absent from the history", history ? String(faults.absent) : "–"],
      ["histories that could not be read", history ? String(faults.unread) : "–"],
      ["unanswered, although the connection held", String(faults.unanswered)],
    ],
    notes: [
      found === undefined
        ? "Histories were not looked up."
        : faults.unread === 0
          ? `${found}.`
          : `${found}; NOT of ${rooms}, so acked messages there may not be stored (${history!.problem}).`,
      ...(missedAway > 0 ? [`${missedAway} missed while away, without recovery: no promise covers them.`] : []),
    ],
  };
}

function errorsOf({ errors }: Reading): Section {
  const sorted = Object.entries(errors).sort(([, a], [, b]) => b - a);
  const shown = sorted.slice(0, ERRORS_SHOWN).map(([what, count]) => `${count} × ${what}`);
  const more = sorted.length - ERRORS_SHOWN;
  return {
    title: "Errors",
    notes: sorted.length === 0 ? ["No errors."] : [...shown, ...(more > 0 ? [`and ${more} other kinds`] : [])],
  };
}

function overTime({ rows, phases, deliveryCurve }: Reading): Section {
  const span = { from: phases.postingFrom, to: phases.postingTo, name: "posting" };
  const line = (name: string, colour: Line["colour"], read: (row: SecondRow) => number, of = rows): Line => ({
    name,
    colour,
    points: of.map((row) => [row.second, read(row)]),
  });
  const delivered = rows.filter(({ deliveries }) => deliveries > 0);
  const watched = rows.filter(({ residentBytes }) => residentBytes !== undefined);
  const over = (title: string, unit: string, ...lines: readonly Line[]) => ({ title, unit, span, lines });
  // Each nine as wide as the one before.
  const at = (share: number): number => Math.min(NINES_MAX, -Math.log10(Math.max(1 - share, 10 ** -NINES_MAX)));
  return {
    title: "Over time, in seconds of the run",
    charts: [
      over(
        "Delivery latency",
        "ms",
        line("p99", 2, (row) => row.p99Ms, delivered),
        line("p95", 3, (row) => row.p95Ms, delivered),
        line("p50", 1, (row) => row.p50Ms, delivered),
      ),
      over(
        "Deliveries",
        "per second",
        line("deliveries", 1, (row) => row.deliveries),
      ),
      over(
        "Posts",
        "per second",
        line("posts", 1, (row) => row.posts),
        line("errors of any kind", 2, (row) => row.errors),
      ),
      over(
        "Connections",
        "members that are in",
        line("connected", 1, (row) => row.connected),
      ),
      ...(watched.length > 0
        ? [
            over(
              "CPU of the server",
              "% of a core",
              line("all its processes", 1, ({ cores = 0 }) => cores * 100, watched),
            ),
            over(
              "Memory of the server",
              "MiB",
              line("all its processes", 1, ({ residentBytes = 0 }) => residentBytes / MIB, watched),
            ),
          ]
        : []),
      ...(rows.some(({ stolenCores }) => stolenCores > 0)
        ? [
            over(
              "CPU time that the host gave to other machines",
              "% of a core",
              line("taken", 2, (row) => row.stolenCores * 100),
            ),
          ]
        : []),
      {
        title: "Delivery latency by percentile",
        unit: "ms",
        lines: [{ name: "delivery", colour: 1, points: deliveryCurve.map(([share, value]) => [at(share), value]) }],
        ticks: TAIL_TICKS.map((share) => [at(share), share === 1 ? "max" : `p${share * 100}`]),
      },
    ],
  };
}

function machineOf({ machine, rows, phases, measured }: Reading): Section {
  const posting = rows.filter(({ second }) => second >= phases.postingFrom && second <= phases.postingTo);
  const mean = (read: (row: SecondRow) => number): number =>
    posting.reduce((sum, row) => sum + read(row), 0) / (posting.length || 1);
  const most = (read: (row: SecondRow) => number): number => Math.max(0, ...posting.map(read));
  const [cores, stolen] = [(row: SecondRow) => row.cores ?? 0, (row: SecondRow) => row.stolenCores];
  return {
    title: "How this was measured",
    notes: [
      ...(posting.some(({ residentBytes }) => residentBytes !== undefined)
        ? [
            `server       ${(mean(cores) * 100).toFixed(0)} % of a core on average, ${(most(cores) * 100).toFixed(0)} % at most, ` +
              `${(most(({ residentBytes = 0 }) => residentBytes) / MIB).toFixed(0)} MiB`,
          ]
        : []),
      `generator    ${(measured.generatorBusy * 100).toFixed(0)} % of a core; ${machine.cores} × ${machine.cpu}, ${machine.platform}, Node ${machine.node}`,
      ...(most(stolen) > 0
        ? [
            `machine      its host took ${mean(stolen).toFixed(2)} of ${machine.cores} cores on average, ${most(stolen).toFixed(2)} at most`,
          ]
        : []),
    ],
  };
}
