// The bench behind `npm run bench`: this project and its peers side by side in one run on one machine.
// How each number arises, and how to read it: docs/bench/README.md.
import { writeFileSync } from "node:fs";

import { readArguments, type BenchArguments } from "./bench/arguments.ts";
import { installPeers } from "./bench/install.ts";
import { describeMachine, type Machine } from "./bench/machine.ts";
import { percent, type Outcome } from "./bench/outcome.ts";
import { PEERS_DIR, type Contender } from "./bench/peers.ts";
import { raceChart } from "./bench/race-chart.ts";
import { RACING_PEERS } from "./bench/racers.ts";
import { tableOf } from "./bench/report.ts";
import { contenders, measure } from "./bench/run.ts";
import { scenarios, type Run, type Scenario } from "./bench/scenarios.ts";
import { requireProc } from "./process.ts";
import { exitOnStop } from "./stopping.ts";
import { helpOf } from "./help.ts";

/** More than four digits of a measurement are noise; counts stay whole. */
const rounded = (_name: string, value: unknown): unknown =>
  typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(4)) : value;

exitOnStop();

try {
  requireProc("npm run bench");
  await bench(readWishes());
  process.exit(0);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}

function readWishes(): BenchArguments {
  const all = scenarios(false);
  const known = { scenarios: all.map(({ name }) => name), peers: [...new Set(all.flatMap(({ peers }) => peers))] };
  try {
    return readArguments(process.argv.slice(2), known);
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${helpOf("bench")}`, { cause: error });
  }
}

async function bench(wishes: BenchArguments): Promise<void> {
  const chosen = scenarios(wishes.isQuick).filter(({ name }) => wishes.scenarios.includes(name));
  const wanted = chosen.flatMap((scenario) => scenario.runs.flatMap((run) => takingPart(scenario, run, wishes)));
  if (wanted.some(({ isInstalled }) => isInstalled)) await installPeers(PEERS_DIR);
  const machine = describeMachine();
  printMachine(machine);
  const outcomes: Outcome[] = [];
  const { jsonFile, chartFile, ...asked } = wishes;
  // After each run: a bench that is interrupted keeps its results so far.
  const keep = (): void => {
    if (jsonFile !== undefined)
      writeFileSync(jsonFile, `${JSON.stringify({ machine, ...asked, outcomes }, rounded, 2)}\n`);
    const chart = raceChart(outcomes, new Map(RACING_PEERS.map(({ name, title }) => [name, title])));
    if (chartFile !== undefined && chart !== undefined) writeFileSync(chartFile, chart);
  };
  for (const scenario of chosen) await runScenario(scenario, wishes, outcomes, keep);
}

function printMachine({ cpu, cores, kernel, isPinned, loadBefore, versions, changedSettings }: Machine): void {
  console.log(`${cores} × ${cpu}, ${kernel}, load before ${loadBefore.toFixed(1)}`);
  console.log(
    isPinned
      ? "server on core 0, generator on core 1"
      : "server and generator share their cores: the numbers disturb each other",
  );
  console.log(
    Object.entries(versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(", "),
  );
  const changes = Object.entries(changedSettings).map(([name, value]) => `${name}=${value}`);
  if (changes.length > 0) console.log(`this project's settings are changed: ${changes.join(", ")}`);
}

function takingPart(scenario: Scenario, run: Run, { peers }: BenchArguments): Contender[] {
  return contenders(run).filter(({ name }) => scenario.peers.includes(name) && peers.includes(name));
}

async function runScenario(
  scenario: Scenario,
  wishes: BenchArguments,
  outcomes: Outcome[],
  keep: () => void,
): Promise<void> {
  const rounds = Math.min(wishes.rounds, scenario.roundsMax ?? wishes.rounds);
  for (const run of scenario.runs) {
    const taking = takingPart(scenario, run, wishes);
    const heldShares = new Map<string, number>();
    for (let round = 1; round <= rounds; round++) {
      // Interleaved, so that other load on the machine hits every server alike.
      for (const peer of taking) {
        const attempts = await measure(run, peer, heldShares.get(peer.name));
        heldShares.set(peer.name, attempts.at(-1)!.rateShare);
        for (const attempt of attempts) {
          const outcome = { run: run.label, peer: peer.name, round, ...attempt };
          outcomes.push(outcome);
          console.error(progressOf(outcome));
        }
        keep();
      }
    }
    const titles = new Map(taking.map(({ name, title }) => [name, title]));
    console.log(`\n${scenario.question}\n\n${tableOf(run.label, outcomes, titles)}\n`);
  }
}

function progressOf({ run, peer, round, rateShare, verdict, reason }: Outcome): string {
  const rate = rateShare === 1 ? "" : ` at ${percent(rateShare)} of the rate`;
  return `${run}, round ${round}, ${peer}${rate}: ${verdict}${reason ? ` (${reason})` : ""}`;
}
