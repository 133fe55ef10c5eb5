// Tests the verdicts, the search for a rate and the tables of `npm run bench`, and that its scenarios fit together.
import { describe, expect, it } from "vitest";

import { PEERS } from "../../scripts/measure/peers.ts";
import { quick, SCENARIOS } from "../../scripts/measure/scenarios.ts";
import { rowsOf } from "../../scripts/measure/table.ts";
import { firstShare, judge, nextShare, type Outcome } from "../../scripts/measure/verdict.ts";
import { markdownTable } from "../../scripts/markdown-table.ts";
import { choose, whole } from "../../scripts/options.ts";
import { readingOf } from "./readings.ts";

/** In one room of ten a hundred posts, a thousand deliveries, for half a second of server CPU. */
const fine = (changes: Parameters<typeof readingOf>[0] = {}) =>
  readingOf({
    ...changes,
    workload: { users: 10, rooms: 1, ...changes.workload },
    connections: { users: 10, in: 10, ...changes.connections },
    measured: { posts: 100, deliveries: 1000, ...changes.measured },
  });

describe("arguments", () => {
  it("are chosen in any order, and keep the bench's own; nothing chosen is everything", () => {
    expect(choose("peer", ["ws", "parley"], ["parley", "bun", "ws"])).toEqual(["parley", "ws"]);
    expect(choose("peer", [], ["parley", "ws"])).toEqual(["parley", "ws"]);
    expect(() => choose("scenario", ["bussy"], ["busy", "echo"])).toThrow(
      'There is no scenario "bussy"; there are busy, echo.',
    );
  });

  it.each(["0", "many", "1.5"])("--rounds %s: named", (rounds) => {
    expect(() => whole({ rounds }, "rounds", 3, 1, 20)).toThrow(/--rounds must be a (whole )?number from 1 to 20, not/);
  });
});

describe("verdicts", () => {
  it.each<[string, Parameters<typeof fine>[0], object]>([
    ["a number", {}, { verdict: "ok" }],
    [
      "a generator at its limit gives none",
      { measured: { generatorBusy: 0.95 } },
      { verdict: "generator saturated", reason: "95 % of its core" },
    ],
    [
      "too few arrived",
      { measured: { deliveries: 900 } },
      { verdict: "not held", reason: "90 % of the offered messages arrived in time" },
    ],
    ["the rest came late", { drainMs: 1500 }, { verdict: "not held", reason: "the last delivery came 1500 ms late" }],
    [
      "posts went unanswered",
      { messages: { unanswered: 2 } },
      { verdict: "not held", reason: "2 posts were never acknowledged" },
    ],
    [
      "somebody waited",
      { latency: { delivery: { ...readingOf().latency.delivery, p99Ms: 1001 } } },
      { verdict: "not held", reason: "p99 was 1001 ms" },
    ],
    [
      "connections broke",
      { connections: { drops: 3 } },
      { verdict: "failed", reason: "0 posts were refused, 3 connections dropped" },
    ],
    ["somebody did not get in", { connections: { in: 9 } }, { verdict: "failed", reason: "1 members did not get in" }],
  ])("%s", (_what, changes, verdict) => {
    expect(judge(fine(changes), true)).toEqual(verdict);
  });

  it("ask for a rate only if lower ones are tried", () => {
    expect(judge(fine({ drainMs: 1500 }), false)).toEqual({ verdict: "ok" });
  });

  it("forgive broken connections if the scenario breaks them", () => {
    const workload = { breaks: { share: 1, awayMs: 1 } };
    expect(judge(fine({ connections: { drops: 9 }, workload }), false).verdict).toBe("ok");
  });
});

describe("the search for a rate", () => {
  const attempt = (verdict: Outcome["verdict"], rateShare: number, deliveries: number) => ({
    verdict,
    rateShare,
    reading: fine({ measured: { deliveries } }),
  });

  it("goes down to the delivered rate, and ends when a rate is held", () => {
    expect(nextShare(attempt("not held", 1, 950))).toBe(0.7);
    expect(nextShare(attempt("not held", 1, 300))).toBe(0.35);
    expect(nextShare(attempt("not held", 0.5, 600))).toBe(0.35);
    expect(nextShare(attempt("generator saturated", 0.7, 1000))).toBe(0.5);
    expect(nextShare(attempt("not held", 0.05, 100))).toBeUndefined();
    expect(nextShare(attempt("ok", 0.7, 1000))).toBeUndefined();
    expect(nextShare(attempt("failed", 1, 10))).toBeUndefined();
  });

  it("begins one step above the rate that the round before held", () => {
    expect([undefined, 1, 0.7, 0.25].map(firstShare)).toEqual([1, 1, 1, 0.35]);
  });
});

describe("tables", () => {
  const outcome = (peer: string, cpu: number, changes: Partial<Outcome> & { lost?: number } = {}): Outcome => {
    const { lost = 0, ...rest } = changes;
    const reading = fine({ measured: { deliveries: 100_000, serverCpuSeconds: cpu }, faults: { lost } });
    return { run: "busy", peer, round: 1, verdict: "ok", rateShare: 1, reading, ...rest };
  };
  const outcomes = [
    outcome("socketio-ws", 1, { verdict: "not held" }),
    outcome("socketio-ws", 1, { rateShare: 0.5 }),
    outcome("socketio-ws", 1.25, { rateShare: 0.35 }),
    outcome("socketio-ws", 0.8, { rateShare: 0.35 }),
    outcome("parley", 0.25, { lost: 2 }),
    outcome("parley", 0.5, { lost: 1 }),
    outcome("ws", 1, { verdict: "generator saturated", reason: "95 % of its core" }),
    outcome("parley", 9, { run: "echo" }),
  ];
  const peers = new Map([
    ["socketio-ws", "Socket.IO"],
    ["parley", "Parley (stores)"],
    ["ws", "ws"],
  ]);

  it("show medians, ranges and ratios of the good rounds, and the rate that was held", () => {
    const [, ...rows] = rowsOf(
      { label: "busy", columns: ["perCpuSecond", "ratio", "faults", "rateHeld"] },
      outcomes,
      peers,
    );
    expect(rows).toEqual([
      ["Socket.IO", "100k [80k-125k]", "1.00×", "0", "35 % to 50 %"],
      ["Parley (stores)", "300k [200k-400k]", "3.00×", "3", "100 %"],
      ["ws", "generator saturated: 95 % of its core"],
    ]);
  });

  it("can be pasted into a document", () => {
    const lines = markdownTable(rowsOf({ label: "busy", columns: ["ratio"] }, outcomes, peers)).split("\n");
    expect(lines[0]).toMatch(/^\| busy +\| ratio +\|$/);
    expect(lines[1]).toMatch(/^\| -+ \| -+ \|$/);
    expect(new Set(lines.map(({ length }) => length)).size).toBe(1);
  });

  it("tell of connections that broke", () => {
    const broken = { users: 500, recovered: 499, backMs: 1500, caughtUpMs: 2500, serverCpuSeconds: 0.7 };
    const reading = { ...fine(), broken };
    const one: Outcome = { run: "storm", peer: "parley", round: 1, verdict: "ok", rateShare: 1, reading };
    const [, row] = rowsOf(
      { label: "storm", columns: ["allBack", "caughtUp", "recovered", "cpuOfReturn"] },
      [one],
      new Map([["parley", "x"]]),
    );
    expect(row).toEqual(["x", "1.50", "2.50", "499", "0.7"]);
  });
});

describe("scenarios", () => {
  it("compare servers that there are, and each run has a name of its own", () => {
    const names = PEERS.map(({ name }) => name);
    for (const { peers } of SCENARIOS) expect(names).toEqual(expect.arrayContaining([...peers]));
    expect(new Set(SCENARIOS.map(({ label }) => label)).size).toBe(SCENARIOS.length);
  });

  it("are smaller for a quick look", () => {
    for (const { workload, name } of SCENARIOS.map(quick)) {
      expect(workload.users, name).toBeLessThanOrEqual(500);
      expect(workload.rooms, name).toBeGreaterThanOrEqual(1);
      expect(workload.warmUpSeconds + workload.seconds, name).toBeLessThan(10);
    }
  });
});
