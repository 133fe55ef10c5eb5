// `npm run bench`: this project and its peers side by side, in one run on one machine. How each number arises, and how to read it:
// docs/bench/README.md.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";

import { PROJECT_ROOT, readChangedSettings } from "../local-variables.ts";
import { markdownTable } from "../markdown-table.ts";
import { choose, runCommand, whole } from "../options.ts";
import { pinTo, requireProc } from "../process.ts";
import { ProcessGroup } from "../process-group.ts";
import { exitOnStop } from "../stopping.ts";
import type { GeneratorJob } from "./generator.ts";
import { installPeers, PARLEY_SETTINGS, PEERS, PEERS_DIR, startPeer, type Peer } from "./peers.ts";
import type { Reading } from "./reading.ts";
import { FILE_OPTIONS, requireWritable, writeFiles, type Files, type Report } from "./report.ts";
import { quick, SCENARIOS, type Scenario } from "./scenarios.ts";
import { rowsOf } from "./table.ts";
import { firstShare, judge, nextShare, percent, type Outcome } from "./verdict.ts";

const ROUNDS_USUAL = 3;
const ROUNDS_MAX = 20;
const GENERATOR_CORE = 1;
const GENERATOR = path.join(import.meta.dirname, "generator.ts");
/** Connecting 10,000 members, settling and draining, on top of a run's own seconds. */
const EXTRA_SECONDS_MAX = 180;

interface Wishes extends Files {
  readonly scenarios: readonly Scenario[];
  readonly peers: readonly string[];
  readonly rounds: number;
}

type Attempt = Pick<Outcome, "verdict" | "reason" | "reading" | "rateShare">;

exitOnStop();
await runCommand("bench", async () => {
  requireProc("npm run bench");
  await bench(readWishes());
  return 0;
});

function readWishes(): Wishes {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { ...FILE_OPTIONS, rounds: { type: "string" }, quick: { type: "boolean" }, peers: { type: "string" } },
  });
  const names = choose("scenario", positionals, [...new Set(SCENARIOS.map(({ name }) => name))]);
  const scenarios = SCENARIOS.filter(({ name }) => names.includes(name));
  const allPeers = PEERS.map(({ name }) => name);
  return {
    json: values.json,
    html: values.html,
    scenarios: values.quick ? scenarios.map(quick) : scenarios,
    peers: choose("peer", values.peers?.split(",") ?? [], allPeers),
    rounds: whole(values, "rounds", values.quick ? 1 : ROUNDS_USUAL, 1, ROUNDS_MAX),
  };
}

async function bench({ scenarios, peers, rounds, ...files }: Wishes): Promise<void> {
  requireWritable(files);
  const outcomes: Outcome[] = [];
  const peersOf = (scenario: Scenario): Peer[] =>
    scenario.peers.filter((name) => peers.includes(name)).map((name) => PEERS.find((peer) => peer.name === name)!);
  const tableOf = (scenario: Scenario): string[][] =>
    rowsOf(scenario, outcomes, new Map(peersOf(scenario).map(({ name, title }) => [name, title])));
  if (scenarios.flatMap(peersOf).some(({ server }) => server.startsWith("socketio"))) await installPeers();
  const machine = describeMachine();
  console.log(machine.lines.join("\n"));
  for (const scenario of scenarios) {
    const compared = peersOf(scenario);
    const heldShares = new Map<string, number>();
    for (let round = 1; round <= (scenario.isOnce ? 1 : rounds); round++) {
      // Interleaved, so that other load on the machine hits every server alike.
      for (const peer of compared) {
        const attempts = await measure(scenario, peer, heldShares.get(peer.name));
        heldShares.set(peer.name, attempts.at(-1)!.rateShare);
        for (const attempt of attempts) {
          outcomes.push({ run: scenario.label, peer: peer.name, round, ...attempt });
          console.error(progressOf(outcomes.at(-1)!));
        }
        const measured = scenarios.filter(({ label }) => outcomes.some(({ run }) => run === label));
        const sections = measured.map((one) => ({ title: one.question, table: tableOf(one) }));
        // After each run: a bench that is interrupted keeps its results so far.
        writeFiles(files, reportOf(sections, machine, outcomes));
      }
    }
    if (compared.length > 0) console.log(`\n${scenario.question}\n\n${markdownTable(tableOf(scenario))}`);
  }
}

function reportOf(
  sections: Report["sections"],
  { lines, ...machine }: ReturnType<typeof describeMachine>,
  outcomes: readonly Outcome[],
): Report {
  // Rows of seconds are those of one run; a bench has hundreds.
  const slim = outcomes.map(({ reading, ...outcome }) => ({
    ...outcome,
    ...(reading && { reading: { ...reading, rows: [] } }),
  }));
  return {
    title: "Parley beside its peers",
    subtitle: lines.join("; "),
    sections,
    data: { machine, outcomes: slim },
  };
}

/** @returns every attempt; the last one counts */
async function measure(scenario: Scenario, peer: Peer, heldShare: number | undefined): Promise<Attempt[]> {
  const attempts: Attempt[] = [];
  let rateShare: number | undefined = firstShare(heldShare);
  while (rateShare !== undefined) {
    const attempt: Attempt = { ...(await attemptOnce(scenario, peer, rateShare)), rateShare };
    attempts.push(attempt);
    rateShare = scenario.searchesRate && nextShare(attempt);
  }
  return attempts;
}

async function attemptOnce(scenario: Scenario, peer: Peer, share: number): Promise<Omit<Attempt, "rateShare">> {
  try {
    const reading = await generate(scenario, peer, share);
    return { ...judge(reading, scenario.searchesRate ?? false), reading };
  } catch (error) {
    return { verdict: "failed", reason: (error as Error).message };
  }
}

/** A fresh server each time: no run profits from a heap that another has warmed up or filled. */
async function generate({ workload }: Scenario, peer: Peer, share: number): Promise<Reading> {
  const server = await startPeer(peer, workload);
  const { origin, pathTemplate, isParley, pids, jwtSecret } = server;
  const postsPerUserPerSecond = workload.postsPerUserPerSecond * share;
  const job: GeneratorJob = {
    isParley,
    pids,
    server: peer.name,
    place: { origin, pathTemplate, prefix: "bench" },
    workload: { ...workload, own: peer.isOwn ? 1 : 0, bundles: peer.bundles ?? false, postsPerUserPerSecond },
    ...(jwtSecret && { jwtSecret }),
  };
  const generator = new ProcessGroup({ args: [GENERATOR], core: GENERATOR_CORE, input: JSON.stringify(job) });
  const seconds = workload.users / workload.connectsPerSecond + workload.warmUpSeconds + workload.seconds;
  const timer = setTimeout(() => generator.killAll(), (seconds + EXTRA_SECONDS_MAX) * 1000);
  const code = await generator.exit();
  clearTimeout(timer);
  await server.stop();
  if (code === "SIGKILL") throw new Error(`the generator was not done ${EXTRA_SECONDS_MAX} s after its time`);
  if (code !== 0) throw new Error(`the generator failed: ${generator.output}`);
  return JSON.parse(generator.stdout) as Reading;
}

function progressOf({ run, peer, round, rateShare, verdict, reason }: Outcome): string {
  const rate = rateShare === 1 ? "" : ` at ${percent(rateShare)} of the rate`;
  return `${run}, round ${round}, ${peer}${rate}: ${verdict}${reason ? ` (${reason})` : ""}`;
}

/** The machine and the versions that the bench ran on. */
function describeMachine() {
  const cpus = os.cpus();
  const isPinned = cpus.length > 1 && pinTo(0).length > 0;
  const changedSettings = readChangedSettings();
  const own = ["workerd", "miniflare"].map((name) => [name, path.join(PROJECT_ROOT, "node_modules", name)] as const);
  const others = ["socket.io", "bun"].map((name) => [name, path.join(PEERS_DIR, "node_modules", name)] as const);
  const versions = {
    parley: versionOf(PROJECT_ROOT),
    commit: git("rev-parse", "--short", "HEAD") + (git("status", "--porcelain") === "" ? "" : " with changes"),
    node: process.versions.node,
    ...Object.fromEntries([...own, ...others].map(([name, folder]) => [name, versionOf(folder)])),
  };
  const changes = Object.entries(changedSettings).map(([name, value]) => `${name}=${value}`);
  const lines = [
    `${cpus.length} × ${cpus[0]?.model ?? "unknown"}, ${os.type()} ${os.release()}, load before ${(os.loadavg()[0] ?? 0).toFixed(1)}`,
    isPinned
      ? "server on core 0, generator on core 1"
      : "server and generator share their cores: the numbers disturb each other",
    Object.entries(versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(", "),
    ...(changes.length > 0 ? [`this project's settings are changed: ${changes.join(", ")}`] : []),
  ];
  return { date: new Date().toISOString(), lines, versions, isPinned, settings: PARLEY_SETTINGS, changedSettings };
}

function versionOf(folder: string): string {
  const manifest = path.join(folder, "package.json");
  if (!existsSync(manifest)) return "absent";
  return (JSON.parse(readFileSync(manifest, "utf8")) as { version: string }).version;
}

function git(...args: readonly string[]): string {
  try {
    const output = execFileSync("git", args, { cwd: PROJECT_ROOT, stdio: ["ignore", "pipe", "ignore"] });
    return output.toString().trim();
  } catch {
    return "unknown";
  }
}
