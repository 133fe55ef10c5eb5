// Tests the arguments, verdicts and tables of `npm run bench`.
import { describe, expect, it } from "vitest";

import { NO_FAULTS } from "../../scripts/bench/accounting.ts";
import { readArguments } from "../../scripts/bench/arguments.ts";
import type {
  BigReading,
  FollowersReading,
  RaceReading,
  RaceWindow,
  TrafficReading,
} from "../../scripts/bench/load/job.ts";
import { judge, type Outcome } from "../../scripts/bench/outcome.ts";
import { raceChart } from "../../scripts/bench/race-chart.ts";
import { readRaceArguments } from "../../scripts/load/race.ts";
import { firstShare, nextShare } from "../../scripts/bench/rate-search.ts";
import { tableOf } from "../../scripts/bench/report.ts";
import { scenarios } from "../../scripts/bench/scenarios.ts";

const known = { scenarios: ["busy", "echo"], peers: ["parley", "ws"] };

describe("arguments", () => {
  it("none: everything, three rounds", () => {
    expect(readArguments([], known)).toEqual({ ...known, rounds: 3, isQuick: false });
    expect(readArguments(["--quick"], known)).toMatchObject({ rounds: 1, isQuick: true });
  });

  it("are chosen in any order, and keep the bench's own", () => {
    expect(
      readArguments(["echo", "busy", "--peers", "ws, parley", "--rounds", "5", "--json", "a.json"], known),
    ).toEqual({
      ...known,
      rounds: 5,
      isQuick: false,
      jsonFile: "a.json",
    });
    expect(readArguments(["echo", "--peers", "ws"], known)).toMatchObject({ scenarios: ["echo"], peers: ["ws"] });
  });

  it.each([
    [["bussy"], 'There is no scenario "bussy"; there are busy, echo.'],
    [["--peers", "ws,redis"], 'There is no peer "redis"; there are parley, ws.'],
    [["--rounds", "0"], '--rounds must be a whole number from 1 to 20, not "0".'],
    [["--rounds", "many"], '--rounds must be a whole number from 1 to 20, not "many".'],
    [["--fast"], "Unknown option '--fast'"],
  ])("%j: %s", (args, message) => {
    expect(() => readArguments(args, known)).toThrow(message);
  });
});

/** One second of 1,000 deliveries as offered, for half a second of server CPU. */
const fine: TrafficReading = {
  kind: "traffic",
  generatorBusy: 0.2,
  serverCpuSeconds: 0.5,
  wallSeconds: 1,
  failures: {},
  deliveries: 1000,
  offeredPerSecond: 1000,
  posted: 10,
  unanswered: 0,
  faults: NO_FAULTS,
  p50Ms: 5,
  p95Ms: 8,
  p99Ms: 9,
  ackP50Ms: 5,
  ackP99Ms: 9,
  drainMs: 10,
  lagP99Ms: 1,
  connectCpuSeconds: 1,
  connectedBytes: 1e8,
  members: 1000,
};

describe("verdicts", () => {
  it.each<[string, Partial<TrafficReading>, object]>([
    ["a number", {}, { verdict: "ok" }],
    [
      "a generator at its limit gives none",
      { generatorBusy: 0.95 },
      { verdict: "generator saturated", reason: "95 % of its core" },
    ],
    [
      "too few arrived",
      { deliveries: 900 },
      { verdict: "not held", reason: "90 % of the offered messages arrived in time" },
    ],
    ["the rest came late", { drainMs: 1500 }, { verdict: "not held", reason: "the last delivery came 1500 ms late" }],
    ["posts went unanswered", { unanswered: 2 }, { verdict: "not held", reason: "2 posts were never acknowledged" }],
    ["somebody waited", { p99Ms: 1001 }, { verdict: "not held", reason: "p99 was 1001 ms" }],
    ["connections broke", { failures: { gone: 3 } }, { verdict: "failed", reason: "gone (3×)" }],
  ])("%s", (_what, change, verdict) => {
    expect(judge({ ...fine, ...change })).toEqual(verdict);
  });
});

describe("the search for a rate", () => {
  const attempt = (verdict: Outcome["verdict"], rateShare: number, deliveries: number) => ({
    verdict,
    rateShare,
    reading: { ...fine, deliveries },
  });

  it("goes down to the delivered rate, and ends where a rate is held", () => {
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
  const outcome = (
    peer: string,
    round: number,
    change: Partial<Outcome> & { cpu?: number; lost?: number },
  ): Outcome => {
    const { cpu = 0.5, lost = 0, ...rest } = change;
    const reading = { ...fine, deliveries: 100_000, serverCpuSeconds: cpu, faults: { ...NO_FAULTS, lost } };
    return { run: "busy", peer, round, verdict: "ok", rateShare: 1, reading, ...rest };
  };
  const { reading: _, ...unheld } = outcome("ws", 1, { verdict: "generator saturated", reason: "95 % of its core" });
  const lines = tableOf(
    "busy",
    [
      outcome("socketio-ws", 1, { cpu: 1, verdict: "not held" }),
      outcome("socketio-ws", 1, { cpu: 1, rateShare: 0.5 }),
      outcome("socketio-ws", 2, { cpu: 1.25, rateShare: 0.35 }),
      outcome("socketio-ws", 3, { cpu: 0.8, rateShare: 0.35 }),
      outcome("parley", 1, { cpu: 0.25, lost: 2 }),
      outcome("parley", 2, { cpu: 0.5, lost: 1 }),
      unheld,
      outcome("other run", 1, { run: "echo" }),
    ],
    new Map([["parley", "Parley (stores)"]]),
  ).split("\n");
  const cellsOf = (start: string): string[] =>
    lines
      .find((line) => line.startsWith(`| ${start}`))!
      .split("|")
      .map((cell) => cell.trim());

  it("show medians, ranges and ratios of the good rounds, and the rate that was held", () => {
    expect(lines).toHaveLength(5);
    const head = cellsOf("busy");
    const cell = (peer: string, column: string): string => cellsOf(peer)[head.indexOf(column)]!;
    expect(cell("socketio-ws", "deliveries / CPU-s")).toBe("100k [80k-125k]");
    expect(cell("socketio-ws", "rate held")).toBe("35 % to 50 %");
    expect(cell("Parley (stores)", "deliveries / CPU-s")).toBe("300k [200k-400k]");
    expect(cell("Parley (stores)", "ratio")).toBe("3.00×");
    expect(cell("Parley (stores)", "rate held")).toBe("100 %");
    expect(cell("Parley (stores)", "lost / doubled / out of order / disagreeing / strayed")).toBe("3 / 0 / 0 / 0 / 0");
  });

  it("of announcements show the first apart, which has to locate the users", () => {
    const reading: FollowersReading = {
      kind: "followers",
      generatorBusy: 0.1,
      serverCpuSeconds: 1,
      wallSeconds: 10,
      failures: {},
      p50Ms: 40,
      p99Ms: 80,
      lastMs: [900, 50, 70, 60],
      answeredMs: [9, 5, 5, 5],
      absent: [0, 2, 0, 1],
      faults: { ...NO_FAULTS, doubled: 3 },
      chatFaults: NO_FAULTS,
      cpuMsPerAnnouncement: 12,
      chatP50Ms: { before: 1, during: 2 },
      chatP99Ms: { before: 3, during: 4 },
    };
    const table = tableOf(
      "followers",
      [{ run: "followers", peer: "parley", round: 1, verdict: "ok", rateShare: 1, reading }],
      new Map(),
    );
    const [head, , row] = table.split("\n").map((line) => line.split("|").map((cell) => cell.trim()));
    const cell = (column: string): string => row![head!.indexOf(column)]!;
    const columns = [
      "the last has it, ms",
      "at worst",
      "the first time",
      "not found",
      "chat p99 ms before",
      "meanwhile",
    ];
    expect(columns.map(cell)).toEqual(["60", "70", "900", "2", "3.0", "4.0"]);
    expect(cell("chat, faults")).toBe("0 / 0 / 0 / 0 / 0");
  });

  it("of a big room compare with one object, and tell of the connections that broke", () => {
    const broken = { members: 500, recovered: 499, backMs: 1500, othersP99Ms: 60 };
    const reading = (cpu: number, p99Ms: number, part: Partial<BigReading["broken"]> = {}): BigReading => ({
      ...fine,
      kind: "big",
      deliveries: 100_000,
      serverCpuSeconds: cpu,
      p99Ms,
      placed: [500, 500],
      broken: { ...broken, ...part },
    });
    const inTurns = [1, 2].flatMap((round): Outcome[] =>
      [
        ["one-object", reading(1, 50)] as const,
        ["shards", reading(1.1, 70 + round, { backMs: broken.backMs * round, othersP99Ms: 75 })] as const,
      ].map(([peer, of]) => ({ run: "big", peer, round, verdict: "ok", rateShare: 1, reading: of })),
    );
    const table = tableOf("big", inTurns, new Map());
    const [head, , one, shards] = table.split("\n").map((line) => line.split("|").map((cell) => cell.trim()));
    const cells = (row: string[], ...columns: string[]): string[] =>
      columns.map((column) => row[head!.indexOf(column)]!);
    expect(cells(one!, "CPU µs / delivery", "ratio", "broken connections")).toEqual([
      "10.0 [10.0-10.0]",
      "1.00×",
      "500 [500-500]",
    ]);
    expect(cells(shards!, "ratio", "hop, p99 ms", "all back, s", "recovered", "others, hop, p99 ms")).toEqual([
      "1.10×",
      "21.5",
      "2.3 [1.5-3.0]",
      "499 [499-499]",
      "15.0",
    ]);
    // A rate that it does not hold gives no number.
    expect(judge(reading(1, 1500)).verdict).toBe("not held");
  });

  it("say why there is no number", () => {
    expect(cellsOf("ws")[2]).toBe("generator saturated: 95 % of its core");
  });
});

describe("scenarios", () => {
  it("are the same, smaller, for a quick look, and every run has a name of its own", () => {
    expect(scenarios(true).map(({ name }) => name)).toEqual(scenarios(false).map(({ name }) => name));
    for (const isQuick of [true, false]) {
      const labels = scenarios(isQuick).flatMap(({ runs }) => runs.map(({ label }) => label));
      expect(new Set(labels).size).toBe(labels.length);
    }
  });
});

describe("the race", () => {
  const window = (clients: number, p95Ms: number): RaceWindow => ({
    clients,
    p50Ms: 1,
    p95Ms,
    keystrokeP95Ms: 2,
    keystrokes: clients * 10,
    deliveries: clients * 60,
    serverBusy: clients / 1000,
    generatorBusy: 0.1,
    residentBytes: 50_000_000 + clients * 102_400,
  });
  const reading: RaceReading = {
    kind: "race",
    windows: [window(200, 2), window(800, 20), window(1000, 80)],
    held: window(800, 20),
    endedBy: "server",
    emptyBytes: 50_000_000,
    finishes: 7,
    refusals: 0,
    generatorBusy: 0.1,
    serverCpuSeconds: 3,
    wallSeconds: 6,
    failures: {},
  };
  const outcome = (run: string, peer: string): Outcome => ({
    run,
    peer,
    round: 1,
    verdict: "ok",
    rateShare: 1,
    reading,
  });
  const titles = new Map([
    ["parley", "Parley"],
    ["socketio-ws", "Socket.IO & ws"],
  ]);

  it("has a table of what each server held", () => {
    const table = tableOf("race", [outcome("race", "parley")], titles);
    expect(table).toMatch(/^\| Parley +\| 800 +\| 1\.0 +\| 20\.0 +\| 2\.0 +\| 4000 +\| 24k +\| 80 % +\| 100 +\|/m);
  });

  it("has a chart with a line for each server and kind, and no letter that SVG would read as its own", () => {
    const chart = raceChart([outcome("race, each", "parley"), outcome("race, together", "socketio-ws")], titles)!;
    expect(chart.match(/<path class="line s1" d="M[\d. LM]+"><title>Parley: each<\/title>/g)).toHaveLength(2);
    expect(
      chart.match(/<path class="line s2 dashed" d="M[\d. LM]+"><title>Socket.IO &#38; ws: together/g),
    ).toHaveLength(2);
    expect(raceChart([], titles)).toBeUndefined();
  });

  it("names what is wrong in the arguments of the load test", () => {
    expect(readRaceArguments(["--race", "--arrivals", "8", "--peer", "parley"])).toMatchObject({
      peer: "parley",
      job: { arrivalsPerSecond: 8, keystrokeMs: 200, p95MsMax: 50, tickMs: 0 },
    });
    expect(() => readRaceArguments(["--race", "--arrivals", "0"])).toThrow(/--arrivals/);
    expect(() => readRaceArguments(["--race", "--peer", "ws"])).toThrow(/There is no peer "ws" that races/);
    expect(() => readRaceArguments(["--race", "--tick", "50"])).toThrow(/--tick is for a server that --peer starts/);
    expect(() => readRaceArguments(["--race", "--url", "https://a/b"])).toThrow(/--url must be like/);
    expect(readRaceArguments(["--race", "--pid", String(process.pid)])).toMatchObject({ serverPid: process.pid });
    expect(() => readRaceArguments(["--race", "--pid", String(2 ** 31)])).toThrow(/There is no process 2147483648/);
  });
});
