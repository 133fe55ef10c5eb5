// `npm run simulate -- --seeds 10000`: simulates seed after seed, and prints those that break a rule, with their events. `--seed N` runs one,
// `--plan FILE` a shrunk one, `--from N` begins there, `--workers N` runs some at a time, `--minutes N` ends early. With one run `--trace`
// prints its events. `--planted` plants bugs into the product, one after the other, and prints the seed that finds each; with `--write` it
// writes them to the file from which the tests take their seeds.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";

import { BUILD, MODULE } from "../test/simulator/chat.ts";
import { simulate, type Outcome, type SimulationFailure, type SimulationResult } from "../test/kit/testing.ts";
import { PLANTED_BUGS, type PlantedChatBug } from "../test/simulator/planted-bugs.ts";
import { findPlanted, nameOf, openPlanted, SEEDS_FILE, type Found } from "../test/simulator/planted-search.ts";
import type { Plan } from "../test/simulator/plan.ts";
import { PROJECT_ROOT } from "./local-variables.ts";
import { exitOnStop } from "./stopping.ts";
import { helpOf, readOptions } from "./options.ts";

const PROGRESS_MS = 10_000;
/** The plans of so many failures are shrunk. */
const SHRINKS = 3;
/** Of so many seeds that find a planted bug the cheapest is written, because the tests run it each time. */
const WRITTEN_OF = 5;

const { values } = readOptions(helpOf("simulate"), {
  options: {
    seeds: { type: "string", default: "100" },
    from: { type: "string", default: "1" },
    minutes: { type: "string", default: "Infinity" },
    seed: { type: "string" },
    plan: { type: "string" },
    trace: { type: "boolean", default: false },
    planted: { type: "boolean", default: false },
    write: { type: "boolean", default: false },
    workers: { type: "string", default: String(Math.min(4, os.availableParallelism())) },
  },
});

exitOnStop();

function tell({ seed, violations: [first] }: Pick<Outcome, "seed" | "violations">): void {
  console.log(`\nseed ${seed} breaks "${first!.invariant}" after ${first!.atMs} ms:\n  ${first!.message}`);
}

async function runSeeds(from: number, seeds: number, workers: number): Promise<boolean> {
  const startMs = Date.now();
  let runs = 0;
  let failed = 0;
  const rate = (): string => `${(runs / ((Date.now() - startMs) / 1000)).toFixed(1)} seeds/s`;
  const progress = setInterval(
    () => console.log(`${runs} of ${seeds} seeds, ${rate()}, ${failed} failed`),
    PROGRESS_MS,
  );
  const onRun = (outcome: Outcome): void => {
    runs++;
    if (outcome.violations.length === 0) return;
    failed++;
    tell(outcome);
  };
  const minutes = Number(values.minutes);
  const asked = { ...BUILD, from, seeds, workers, minutes, shrinks: SHRINKS, failuresMax: Infinity, onRun };
  const result = await simulate<Plan>(MODULE, asked).finally(() => clearInterval(progress));
  console.log(`\n${runs} seeds (${from} to ${from + runs - 1}), ${rate()}, ${failed} failed\n`);
  summarise(result);
  for (const failure of result.failures) if (failure.shrinkRuns > 0) await tellShrunk(failure);
  return failed === 0;
}

function summarise({ counts, done }: SimulationResult<Plan>): void {
  for (const [name, times] of Object.entries(counts)) console.log(`${name.padEnd(24)}${times}`);
  for (const [title, prefix] of Object.entries({ steps: "step ", faults: "fault " })) {
    const ofGroup = Object.entries(done).filter(([name]) => name.startsWith(prefix));
    console.log(`\n${title.padEnd(24)}${ofGroup.reduce((sum, [, times]) => sum + times, 0)}`);
    for (const [name, times] of ofGroup.sort(([a], [b]) => (a < b ? -1 : 1)))
      console.log(`  ${name.slice(prefix.length).padEnd(22)}${times}`);
  }
}

async function tellShrunk({ plan, shrinkRuns }: SimulationFailure<Plan>): Promise<void> {
  const folder = path.join(PROJECT_ROOT, "dist", "simulate");
  await mkdir(folder, { recursive: true });
  const file = path.join(folder, `seed-${plan.seed}.json`);
  await writeFile(file, JSON.stringify(plan, undefined, 1));
  const { clients, steps, faults } = plan;
  const size = `${clients.length} clients, ${steps.length} steps, ${faults.length} faults, in ${shrinkRuns} runs`;
  console.log(`\nseed ${plan.seed}, shrunk to ${size}. Again:`);
  console.log(`  npm run simulate -- --plan ${path.relative(PROJECT_ROOT, file)}`);
}

async function runOne(one: { readonly seeds: 1; readonly from: number } | { readonly plan: Plan }): Promise<boolean> {
  const isPlan = "plan" in one;
  const result = await simulate<Plan>(MODULE, { ...BUILD, ...one, trace: values.trace, shrinks: isPlan ? 0 : 1 });
  summarise(result);
  const [failure] = result.failures;
  if (!failure) {
    console.log(`\nseed ${isPlan ? one.plan.seed : one.from}: nothing is broken`);
    return true;
  }
  const { outcome } = failure;
  for (const violation of outcome.violations) tell({ ...outcome, violations: [violation] });
  if (!isPlan) await tellShrunk(failure);
  return false;
}

/** Prints the seed and the rule that find each planted bug. */
async function tellPlanted(seeds: number): Promise<boolean> {
  const found: Array<PlantedChatBug & Found> = [];
  const simulation = await openPlanted();
  for (const planted of PLANTED_BUGS) {
    const one = await findPlanted(simulation, planted, { seeds, wanted: values.write ? WRITTEN_OF : 1 });
    if (one) found.push({ ...planted, ...one });
    const what = one && `seed ${nameOf(one)}, in run ${one.runs}, which has ${one.events} events`;
    console.log(`${what ?? "NOT FOUND"}: ${planted.bug}`);
    if (one) console.log(`    ${one.violation.invariant}: ${one.violation.message.split("\n")[0]!.slice(0, 160)}`);
  }
  await simulation.stop();
  console.log(`\n${found.length} of ${PLANTED_BUGS.length} planted bugs were found`);
  if (found.length < PLANTED_BUGS.length) return false;
  if (values.write) await writeSeeds(found);
  return true;
}

async function writeSeeds(found: ReadonlyArray<PlantedChatBug & Found>): Promise<void> {
  const seedsByBug = Object.fromEntries(found.map(({ bug, ...draw }) => [bug, nameOf(draw)]));
  await writeFile(SEEDS_FILE, `${JSON.stringify(seedsByBug, undefined, 2)}\n`);
}

async function run(): Promise<boolean> {
  if (values.planted) return tellPlanted(Number(values.seeds));
  if (values.plan !== undefined) return runOne({ plan: JSON.parse(await readFile(values.plan, "utf8")) as Plan });
  if (values.seed !== undefined) return runOne({ seeds: 1, from: Number(values.seed) });
  return runSeeds(Number(values.from), Number(values.seeds), Number(values.workers));
}

process.exitCode = (await run()) ? 0 : 1;
