// The report of a load test as one HTML file with charts, which needs no network.
import { escapeHtml, lineChart, page, shortNumber, table, type Line } from "../measuring/charts.ts";
import { faultsIn, type LoadReport, type Percentiles, type SecondRow } from "./report.ts";
import { incompleteWords } from "./shortfall.ts";
import { inPosting, ms } from "./text.ts";

const MIB = 2 ** 20;
/** Where the tail's axis has its labels: each as far from the next as it is closer to all. */
const CURVE_TICKS = [0.5, 0.9, 0.99, 0.999, 0.9999];
const NINES_MAX = 5;
/** After the last that happened. */
const QUIET_SECONDS_SHOWN = 3;

export function htmlOf(report: LoadReport): string {
  return page(
    `Load test of ${report.server}`,
    [
      head(report),
      tiles(report),
      charts(report),
      faultsTable(report),
      latencyTable(report),
      errorsTable(report),
      notes(report),
    ].join("\n"),
  );
}

function head(report: LoadReport): string {
  const { server, startedAt, asked } = report;
  const { pace } = asked;
  const posting =
    pace.kind === "rate"
      ? `${pace.perUserPerSecond} posts per user and second`
      : `${pace.minSeconds} to ${pace.maxSeconds} s between answer and next post`;
  return `<h1>Load test of ${escapeHtml(server)}</h1>
<p class="soft">${escapeHtml(startedAt.slice(0, 16).replace("T", " "))} UTC · ${asked.users} users, ${asked.rooms} rooms, ${posting}, ${asked.payloadBytes} bytes each</p>${verdict(report)}`;
}

function verdict(report: LoadReport): string {
  const faults = faultsIn(report);
  if (faults > 0) return `<p class="verdict bad">${faults} faults: the server did not do what it promised.</p>`;
  if (report.outcome === "interrupted") return neither("Interrupted; no faults until then.");
  if (report.outcome === "incomplete") return neither(`Incomplete: ${incompleteWords(report)}`);
  return `<p class="verdict good">No faults: nothing lost, doubled or out of order.</p>`;
}

/** Amber, as the charts have it. */
const neither = (words: string): string => `<p class="verdict" style="color: var(--s2)">${escapeHtml(words)}</p>`;

function tiles({ connections, messages, latency, process, phases }: LoadReport): string {
  const posting = inPosting({ phases }, process?.samples ?? []);
  const cores = posting.reduce((sum, sample) => sum + sample.cores, 0) / (posting.length || 1);
  const tile = (value: string, name: string): string =>
    `<div class="tile"><b>${escapeHtml(value)}</b><span>${escapeHtml(name)}</span></div>`;
  return `<div class="tiles">${[
    tile(`${((connections.in / connections.users) * 100).toFixed(1)} %`, `of ${connections.users} users connected`),
    tile(`${ms(latency.delivery.p50Ms)} ms`, "delivery, median"),
    tile(`${ms(latency.delivery.p99Ms)} ms`, "delivery, p99"),
    tile(`${ms(latency.ack.p99Ms)} ms`, "ack, p99"),
    tile(shortNumber(messages.deliveries), `deliveries of ${shortNumber(messages.posts)} posts`),
    tile(`${shortNumber(Math.round(messages.deliveriesPerSecond))}/s`, "deliveries"),
    ...(posting.length > 0
      ? [
          tile(`${(cores * 100).toFixed(0)} %`, "of a core, the server, on average"),
          tile(
            `${(Math.max(...posting.map((sample) => sample.residentBytes)) / MIB).toFixed(0)} MiB`,
            "of memory, the server, at most",
          ),
        ]
      : []),
  ].join("")}</div>`;
}

function charts({ seconds: all, phases, deliveryCurve, process, stolen = [] }: LoadReport): string {
  const seconds = untilQuiet(all, phases.postingTo);
  const lastSecond = seconds.at(-1)?.second ?? Infinity;
  const samples = process?.samples.filter(({ second }) => second <= lastSecond) ?? [];
  const spans = [{ from: phases.postingFrom, to: phases.postingTo, name: "posting" }];
  const xRange = [0, seconds.at(-1)?.second ?? 0] as const;
  const over = (title: string, yUnit: string, lines: readonly Line[]): string =>
    lineChart({ title, yUnit, lines, spans, xRange, xLabel: (x) => `${Math.round(x)} s` });
  const of = (name: string, colour: Line["colour"], read: (row: SecondRow) => number, rows = seconds): Line => ({
    name,
    colour,
    points: rows.map((row) => [row.second, read(row)]),
  });
  const delivered = seconds.filter(({ deliveries }) => deliveries > 0);
  return [
    "<h2>Over time</h2>",
    over("Delivery latency", "ms, from the moment at which the post was due", [
      of("p99", 2, ({ p99Ms }) => p99Ms, delivered),
      of("p95", 3, ({ p95Ms }) => p95Ms, delivered),
      of("p50", 1, ({ p50Ms }) => p50Ms, delivered),
    ]),
    over("Deliveries", "per second", [of("deliveries", 1, ({ deliveries }) => deliveries)]),
    over("Posts", "per second", [
      of("posts", 1, ({ posts }) => posts),
      of("errors of any kind", 2, ({ errors }) => errors),
    ]),
    over("Connections", "members that are in", [of("connected", 1, ({ connected }) => connected)]),
    ...(process
      ? [
          over("CPU of the server", "% of a core", [
            {
              name: "all its processes",
              colour: 1,
              points: samples.map(({ second, cores }) => [second, cores * 100]),
            },
          ]),
          over("Memory of the server", "MiB", [
            {
              name: "all its processes",
              colour: 1,
              points: samples.map((one) => [one.second, one.residentBytes / MIB]),
            },
          ]),
        ]
      : []),
    ...(stolen.some(({ cores }) => cores > 0)
      ? [
          over(
            "CPU time that went to other machines of its host",
            "% of a core; latencies tell of the neighbours meanwhile",
            [
              {
                name: "taken",
                colour: 2,
                points: stolen
                  .filter(({ second }) => second <= lastSecond)
                  .map(({ second, cores }) => [second, cores * 100]),
              },
            ],
          ),
        ]
      : []),
    "<h2>The tail</h2>",
    curve(deliveryCurve),
  ].join("\n");
}

/** Waiting for the server's own counts is no part of the story, and would leave little room for it. */
function untilQuiet(seconds: readonly SecondRow[], postingTo: number): readonly SecondRow[] {
  const isBusy = ({ posts, deliveries, errors }: SecondRow): boolean => posts + deliveries + errors > 0;
  const last = Math.max(postingTo, seconds.findLast(isBusy)?.second ?? 0);
  return seconds.filter(({ second }) => second <= last + QUIET_SECONDS_SHOWN);
}

/** Each nine as wide as the one before. */
function curve(points: LoadReport["deliveryCurve"]): string {
  const place = (share: number): number => Math.min(NINES_MAX, -Math.log10(Math.max(1 - share, 10 ** -NINES_MAX)));
  return lineChart({
    title: "Delivery latency by percentile",
    yUnit: "ms",
    lines: [{ name: "delivery", colour: 1, points: points.map(([share, value]) => [place(share), value]) }],
    xTicks: [...CURVE_TICKS.map(place), NINES_MAX],
    xLabel: (x) => (x >= NINES_MAX ? "max" : `p${Number(((1 - 10 ** -x) * 100).toFixed(3))}`),
  });
}

function faultsTable({ faults, missedAway, history, messages }: LoadReport): string {
  const looked = history ? `${history.messages} messages in ${history.rooms} rooms` : "not looked up";
  return `<h2>What arrived</h2>${table([
    ["", "count"],
    ["lost: due to a member by seq, and never seen", String(faults.lost)],
    ["doubled: seen again", String(faults.doubled)],
    ["out of order: seen after a later one", String(faults.outOfOrder)],
    ["disagreeing: another message at the same place", String(faults.disagreeing)],
    ["strayed: seen in a room to which it was not posted", String(faults.strayed)],
    [`acked but absent from the history (${looked})`, history ? String(faults.ackedAbsent) : "–"],
    [
      `rooms whose history could not be read${history?.problem === undefined ? "" : `: ${history.problem}`}`,
      history ? String(faults.historiesUnread) : "–",
    ],
    ["never answered, though their user was connected all the time", String(faults.unanswered)],
    ["missed while away, without recovery (no fault)", String(missedAway)],
    ["posts without an answer in all, also over broken connections", String(messages.unanswered)],
    ["posts due while their user was away", String(messages.unsent)],
  ])}`;
}

function latencyTable({ latency, connections }: LoadReport): string {
  const row = (name: string, one: Percentiles): string[] => [
    name,
    ...[one.p50Ms, one.p90Ms, one.p95Ms, one.p99Ms, one.p999Ms, one.maxMs].map(ms),
    shortNumber(one.count),
  ];
  return `<h2>Latency in ms</h2>${table([
    ["", "p50", "p90", "p95", "p99", "p99.9", "max", "count"],
    row("delivery", latency.delivery),
    row("ack", latency.ack),
    row("connect", connections.connect),
    row("the generator's own lateness", latency.generatorLate),
  ])}`;
}

function errorsTable({ errors, connections }: LoadReport): string {
  const rows = Object.entries(errors).sort(([, a], [, b]) => b - a);
  const lines = `<p class="soft">${connections.failures} failed attempts to connect, ${connections.drops} connections dropped,
${connections.returns} came back, ${connections.recoveries} of them recovered their session.</p>`;
  if (rows.length === 0) return `<h2>Errors</h2><p>None.</p>${lines}`;
  return `<h2>Errors</h2>${table([["what", "count"], ...rows.map(([what, count]) => [what, String(count)])])}${lines}`;
}

function notes({ machine, asked }: LoadReport): string {
  return `<h2>How this was measured</h2>
<p>Latency runs from the moment at which a post was <em>due</em>, decided beforehand, not from when it could be sent: a server that
stalls is charged for everything that waited meanwhile (no coordinated omission). Each member holds what it received against
<code>seq</code>, which rises by one per message: every number between its arrival and the room's last one is due, once, in order.
Percentiles come from histograms that know each value to 1.6 %.</p>
<p class="soft">Generator: ${escapeHtml(machine.cpu)}, ${machine.cores} cores, ${escapeHtml(machine.platform)}, Node ${escapeHtml(machine.node)};
${asked.processes} process${asked.processes === 1 ? "" : "es"}; ${percent(asked.shimShare)} speak this project's dialect, ${percent(asked.pollingShare)} long-poll,
${percent(asked.realShare)} are whole client libraries.</p>`;
}

const percent = (share: number): string => `${Math.round(share * 100)} %`;
