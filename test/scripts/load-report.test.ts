// Tests the report of a load test: as JSON, as text, and as a page that needs no network.
import { describe, expect, it } from "vitest";

import { readArguments } from "../../scripts/load/arguments.ts";
import { countedBetween, sumsOf } from "../../scripts/load/counted.ts";
import type { HistoryVerdict } from "../../scripts/load/history-check.ts";
import { htmlOf } from "../../scripts/load/html.ts";
import type { FinalReport } from "../../scripts/load/messages.ts";
import { parseReport, type LoadReport } from "../../scripts/load/report.ts";
import { Series } from "../../scripts/load/series.ts";
import { summarize } from "../../scripts/load/summary.ts";
import { stolenSeconds } from "../../scripts/load/stolen-time.ts";
import { textOf } from "../../scripts/load/text.ts";
import { niceCeiling, roundTicks, shortNumber } from "../../scripts/measuring/charts.ts";
import { Histogram } from "../../scripts/measuring/statistics.ts";

const entriesOf = (...values: number[]): Histogram["entries"] => {
  const histogram = new Histogram();
  for (const value of values) histogram.add(value);
  return histogram.entries;
};

interface Changes extends Partial<FinalReport["counts"]> {
  readonly isInterrupted?: boolean;
}

function reportWith(
  faults: Partial<FinalReport["faults"]> = {},
  errors: Record<string, number> = {},
  history: HistoryVerdict = { ackedAbsent: 0, messages: 5, rooms: 10, unread: 0 },
  { ignored = 0, isInterrupted = false, ...changed }: Changes = {},
): LoadReport {
  const series = new Series(() => 3);
  const delivery = entriesOf(5000, 6000, 7000, 90_000);
  series.ticked(0, 100, [{ second: 2, posts: 4, acks: 4, deliveries: 4, errors: 0, delivery, ack: entriesOf(4000) }]);
  series.ticked(1, 50, [{ second: 2, posts: 1, acks: 1, deliveries: 2, errors: 1, delivery: [], ack: [] }]);
  const counts = {
    connectAttempts: 151,
    connectFailures: 1,
    connects: 150,
    posts: 5,
    unsent: 0,
    acks: 5,
    refusals: 0,
    deliveries: 6,
    strayed: 0,
    drops: 0,
    returns: 0,
    recoveries: 0,
    framesIn: 155,
    heartbeats: 0,
    requests: 151,
    unanswered: ignored,
    ignored,
    away: 0,
    ...changed,
  };
  return summarize({
    args: readArguments(["--users", "150", "--token-secret", "hush"], []),
    server: "http://127.0.0.1:8787",
    startedAt: new Date(0),
    isInterrupted,
    machine: { cpu: "<a & b>", cores: 2, node: "24", platform: "Linux" },
    processes: 2,
    phases: { connectedAt: 1, postingFrom: 2, postingTo: 4, finishedAt: 5 },
    series,
    reports: [
      {
        counts,
        faults: { lost: 0, doubled: 0, outOfOrder: 0, missedAway: 0, ...faults },
        errors,
        connect: entriesOf(1000),
        lag: entriesOf(10),
        indexes: {},
      },
    ],
    indexes: new Map(),
    history,
    process: { pid: 1, samples: [{ second: 3, cores: 0.5, residentBytes: 2 ** 28 }] },
  });
}

describe("the report", () => {
  it("merges the processes' reports, per second and in total", () => {
    const { seconds, latency, messages, connections } = reportWith();
    expect(seconds).toMatchObject([
      { second: 2, posts: 5, deliveries: 6, errors: 1 },
      { second: 3, connected: 150 },
    ]);
    expect(latency.delivery.count).toBe(4);
    expect(latency.delivery.p50Ms).toBeCloseTo(6, 0);
    expect(latency.delivery.maxMs).toBeCloseTo(90, -1);
    expect(messages).toMatchObject({ postsPerSecond: 2.5, deliveriesPerSecond: 3 });
    expect(connections).toMatchObject({ users: 150, in: 150, failures: 1 });
  });

  it("is read back as it was written, and holds no secret", () => {
    const report = reportWith();
    const text = JSON.stringify(report);
    expect(parseReport(text, "a.json")).toEqual(report);
    expect(text).not.toContain("hush");
    expect(() => parseReport("{", "a.json")).toThrow("a.json is no JSON.");
    expect(() => parseReport('{"format":2}', "a.json")).toThrow(/a.json is no report of npm run load: format/);
  });

  it("is clean without faults, and lists faults", () => {
    expect(reportWith().outcome).toBe("clean");
    expect(textOf(reportWith())).toMatch(/No faults: nothing lost, doubled or out of order\.$/);
    const faulty = reportWith({ lost: 2, outOfOrder: 1 }, { "post: RATE_LIMITED": 3 });
    expect(faulty.outcome).toBe("faults");
    expect(textOf(faulty)).toMatch(/2 lost, 0 doubled, 1 out of order/);
    expect(textOf(faulty)).toMatch(/3 × post: RATE_LIMITED/);
    expect(textOf(faulty)).toMatch(/FAULTS: 3\./);
  });

  it("says where the members of a big room were", () => {
    const placed = (inRoom: number, ...inShards: number[]): LoadReport => ({
      ...reportWith(),
      placed: { inRoom, inShards },
    });
    expect(textOf(placed(1000, 1000, 1000))).toContain("places       1000 in the room itself, 2 shards with 1000\n");
    expect(textOf(placed(10, 7, 9))).toContain("places       10 in the room itself, 2 shards with 7 to 9\n");
    expect(textOf(placed(10))).toContain("places       10 in the room itself, no shards\n");
    expect(parseReport(JSON.stringify(placed(10, 7)), "a.json").placed).toEqual({ inRoom: 10, inShards: [7] });
  });

  it("is no clean one where a history could not be read: what was acked there may be lost", () => {
    const problem = "load-3: history was refused: INTERNAL";
    const report = reportWith({}, {}, { ackedAbsent: 0, messages: 5, rooms: 9, unread: 1, problem });
    expect(report.outcome).toBe("faults");
    expect(textOf(report)).toContain(
      "5 messages found in the histories of 9 rooms; NOT of 1 room, so acked messages there may not be stored " +
        "(load-3: history was refused: INTERNAL)",
    );
    expect(textOf(report)).toMatch(/FAULTS: 1\./);
    expect(htmlOf(report)).toContain("load-3: history was refused: INTERNAL");
    // A report from before they were counted.
    const { historiesUnread: _, unanswered: __, ...faults } = reportWith().faults;
    const early = parseReport(JSON.stringify({ ...reportWith(), faults }), "a.json").faults;
    expect(early).toMatchObject({ historiesUnread: 0, unanswered: 0 });
  });

  it("counts an unanswered post on an unbroken connection as a fault, where the member waited for the answer", () => {
    const report = reportWith({}, {}, undefined, { ignored: 2 });
    expect([report.outcome, report.faults.unanswered]).toEqual(["faults", 2]);
    expect(textOf(report)).toContain("2 unanswered over a line that held");
    const interrupted = reportWith({}, {}, undefined, { ignored: 2, isInterrupted: true });
    expect(interrupted).toMatchObject({
      outcome: "interrupted",
      faults: { unanswered: 0 },
      messages: { unanswered: 2 },
    });
  });

  it("counts a run that was interrupted as neither good nor bad", () => {
    const html = htmlOf(reportWith({}, {}, undefined, { isInterrupted: true }));
    expect(html).toContain("Interrupted; no faults until then.");
    expect(html).not.toMatch(/class="verdict (good|bad)"/);
  });

  it("shows the CPU time stolen by the host, and the latencies of the seconds without any", () => {
    const stolen = [
      { second: 1, cores: 2 },
      { second: 2, cores: 0.01 },
      { second: 3, cores: 0.51 },
    ];
    const disturbed = { ...reportWith(), stolen };
    expect(parseReport(JSON.stringify(disturbed), "a.json").stolen).toEqual(stolen);
    expect(textOf(disturbed)).toContain("its host took 0.26 of 2 cores on average, 0.51 at most");
    expect(textOf(disturbed)).toContain(
      "delivery p99 of a second in which it took nothing: 89.6 ms in the median, under 100 ms in 1 of 1",
    );
    expect(htmlOf(disturbed)).toContain("CPU time that went to other machines of its host");
    expect(textOf({ ...disturbed, stolen: stolen.slice(1, 2) })).not.toMatch(/took nothing/);
    expect(textOf(reportWith())).not.toMatch(/host/);
    expect(htmlOf(reportWith())).not.toContain("other machines of its host");
    expect(stolenSeconds("cpu  10 2 3 400 5 6 7 250 1 0\ncpu0 5 1 1 200 2 3 3 125 0 0\n")).toBe(2.5);
    expect(stolenSeconds("cpu  10 2 3 400\n")).toBe(0);
  });

  it("is a page of its own: charts, both schemes, nothing from elsewhere, no markup from names", () => {
    const html = htmlOf(reportWith({ doubled: 1 }));
    expect(html.match(/<svg /g)!.length).toBeGreaterThanOrEqual(6);
    expect(html).toContain("prefers-color-scheme: dark");
    expect(html).not.toMatch(/(src|href)=|url\(|<script|@import/);
    expect(html).toContain("&#60;a &#38; b&#62;");
    expect(html).toContain("no coordinated omission");
    expect(html).not.toMatch(/NaN|Infinity|undefined/);
  });

  it("draws no more of the quiet after it than a moment, and labels its axes with round numbers", () => {
    const report = reportWith();
    const [last] = report.seconds.slice(-1);
    const quiet = Array.from({ length: 600 }, (_, i) => ({
      ...last!,
      second: last!.second + 1 + i,
      posts: 0,
      deliveries: 0,
      errors: 0,
    }));
    const html = htmlOf({ ...report, seconds: [...report.seconds, ...quiet] });
    const seconds = [...html.matchAll(/>(\d+) s</g)].map(([, second]) => Number(second));
    expect(Math.max(...seconds)).toBeLessThan(Math.max(report.phases.postingTo, last!.second) + 5);
    expect(roundTicks(2, 48, 6)).toEqual([10, 20, 30, 40]);
    expect(roundTicks(0, 6, 6)).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(roundTicks(5, 5, 6)).toEqual([5]);
  });
});

describe("a run of which much did not happen", () => {
  const HELD = "No posted message was lost, doubled or out of order.";
  const reportOf = (changed: Changes): LoadReport => reportWith({}, {}, undefined, changed);

  /** Each output says that the run is incomplete, and no output says that all is well. */
  function expectIncomplete(report: LoadReport, words: string): void {
    expect(report.outcome).toBe("incomplete");
    expect(parseReport(JSON.stringify(report), "a.json")).toEqual(report);
    expect(textOf(report).split("\n").at(-1)).toBe(`INCOMPLETE: ${words}`);
    expect(htmlOf(report)).toContain(`Incomplete: ${words}`);
    expect(htmlOf(report)).not.toMatch(/class="verdict (good|bad)"|No faults/);
  }

  it("is incomplete where not everybody got in, be it one", () => {
    expectIncomplete(reportOf({ connects: 149 }), `1 of 150 users did not get in. ${HELD}`);
    expectIncomplete(
      reportOf({ connects: 0, posts: 0, acks: 0, unsent: 3 }),
      "150 of 150 users did not get in; 3 of 3 posts that were due have no ack " +
        "(3 not sent, 0 refused, 0 unanswered). Nothing was posted.",
    );
  });

  it("is incomplete where joined members were away at the end", () => {
    expectIncomplete(reportOf({ drops: 4, returns: 1, away: 3 }), `3 of 150 users were away at the end. ${HELD}`);
  });

  it("is incomplete where more than a hundredth of the posts that were due have no ack", () => {
    const due = { posts: 990, unsent: 10 };
    expectIncomplete(
      reportOf({ ...due, acks: 989, refusals: 1 }),
      `11 of 1000 posts that were due have no ack (10 not sent, 1 refused, 0 unanswered). ${HELD}`,
    );
    expectIncomplete(
      reportOf({ posts: 257, acks: 250, refusals: 3, unsent: 348, unanswered: 4 }),
      `355 of 605 posts that were due have no ack (348 not sent, 3 refused, 4 unanswered). ${HELD}`,
    );
  });

  it("is whole where a few lines broke, and came back", () => {
    const mended = reportOf({ drops: 5, returns: 5, posts: 990, unsent: 6, acks: 988, refusals: 2 });
    expect(mended.outcome).toBe("clean");
    expect(textOf(mended)).toMatch(/No faults: nothing lost, doubled or out of order\.$/);
    expect(htmlOf(mended)).toContain('class="verdict good"');
  });

  it("is called faulty, or interrupted, where it is that, too", () => {
    expect(reportWith({ lost: 1 }, {}, undefined, { connects: 5 }).outcome).toBe("faults");
    expect(reportOf({ connects: 5, isInterrupted: true }).outcome).toBe("interrupted");
  });

  it("reads reports without counts of absent members", () => {
    const { away: _, ...connections } = reportWith().connections;
    const early = parseReport(JSON.stringify({ ...reportWith(), connections }), "a.json");
    expect([early.outcome, early.connections.away]).toEqual(["clean", 0]);
  });
});

describe("the counts of the server", () => {
  const before = [
    "# HELP parley_messages_posted_total Messages.",
    "parley_messages_posted_total 100",
    'parley_rows_written_total{object="room"} 50',
    'parley_rows_written_total{object="lobby"} 5',
  ].join("\n");
  const after = before.replace("100", "160").replace("} 50", "} 90").replace("} 5\n", "} 8\n").replace(/} 5$/, "} 8");

  it("is the difference of two scrapes, summed over labels; a missing series is left out", () => {
    expect(sumsOf(before).get("parley_rows_written_total")).toBe(55);
    expect(countedBetween(before, after)).toEqual({ posts: 60, rowsWritten: 43 });
    expect(countedBetween("", "")).toEqual({});
    const frames = `parley_frames_received_total{transport="websocket"} 7\nparley_frames_received_total{transport="polling"} 90`;
    expect(countedBetween("", frames)).toEqual({ framesIn: 7 });
  });
});

it("axes end at round numbers", () => {
  expect([0, 0.3, 7, 42, 410].map(niceCeiling)).toEqual([1, 0.4, 10, 50, 500]);
  expect([0, 1.25, 42, 12_500, 3_400_000].map(shortNumber)).toEqual(["0", "1.25", "42", "12.5k", "3.4M"]);
});
