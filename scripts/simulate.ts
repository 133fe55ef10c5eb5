// `npm run simulate -- --seeds 10000`: simulates seed after seed until a rule breaks, and prints the faults of that run.
// `--seed N` runs one, `--plan FILE` a shrunk one, `--from N` begins there, `--workers N` runs some at a time, `--minutes
// N` ends early. With one run `--trace` prints its events. `--planted` plants bugs into the product, one after the other,
// and prints the seed that finds each; with `--write` it writes that to docs/reliability.md, and to the file from which the
// tests take their seeds.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";

import { bundleChat, shrinkPlan, Simulation } from "../test/simulator/chat.ts";
import { PLANTED_BUGS, type PlantedBug } from "../test/simulator/planted-bugs.ts";
import { findPlanted, SEEDS_FILE, type Found } from "../test/simulator/planted-search.ts";
import { plantedTable, withPlantedTable } from "../test/simulator/planted-table.ts";
import { drawPlan, type Plan } from "../test/simulator/plan.ts";
import type { Outcome } from "../test/simulator/run.ts";
import { PROJECT_ROOT } from "./local-variables.ts";
import { exitOnStop } from "./stopping.ts";
import { helpOf } from "./help.ts";
import { readOptions } from "./options.ts";

const PROGRESS_MS = 10_000;

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
const code = await bundleChat();
const totals = new Map<string, number>();
const failed: Outcome[] = [];
const missed: string[] = [];
let runs = 0;

function count({ counts, done }: Outcome): void {
  runs++;
  for (const [name, times] of [...Object.entries(counts), ...Object.entries(done)])
    totals.set(name, (totals.get(name) ?? 0) + times);
}

async function work(next: () => number | undefined): Promise<void> {
  const simulation = new Simulation(code);
  for (let seed = next(); seed !== undefined; seed = next()) {
    const outcome = await simulation.runSeed(seed);
    count(outcome);
    if (outcome.violations.length > 0) {
      failed.push(outcome);
      tell(outcome);
    }
  }
  await simulation.stop();
}

function tell({ seed, violations: [first] }: Outcome): void {
  console.log(`\nseed ${seed} breaks "${first!.invariant}" after ${first!.atMs} ms:\n  ${first!.message}`);
}

async function runSeeds(from: number, seeds: number, workers: number): Promise<void> {
  const startMs = Date.now();
  const endMs = startMs + Number(values.minutes) * 60_000;
  let seed = from;
  const next = (): number | undefined => (seed < from + seeds && Date.now() < endMs ? seed++ : undefined);
  const rate = (): string => `${(runs / ((Date.now() - startMs) / 1000)).toFixed(1)} seeds/s`;
  const progress = setInterval(
    () => console.log(`${runs} of ${seeds} seeds, ${rate()}, ${failed.length} failed`),
    PROGRESS_MS,
  );
  await Promise.all(Array.from({ length: workers }, () => work(next)));
  clearInterval(progress);
  console.log(`\n${runs} seeds (${from} to ${seed - 1}), ${rate()}, ${failed.length} failed\n`);
  summarise();
  for (const outcome of failed.slice(0, 3)) await tellShrunk(drawPlan(outcome.seed), outcome);
}

function summarise(): void {
  const groups = { steps: "step ", faults: "fault " };
  const isPlain = (name: string): boolean => !Object.values(groups).some((prefix) => name.startsWith(prefix));
  for (const [name, times] of totals) if (isPlain(name)) console.log(`${name.padEnd(24)}${times}`);
  for (const [title, prefix] of Object.entries(groups)) {
    const ofGroup = [...totals].filter(([name]) => name.startsWith(prefix)).sort(([a], [b]) => (a < b ? -1 : 1));
    console.log(`\n${title.padEnd(24)}${ofGroup.reduce((sum, [, times]) => sum + times, 0)}`);
    for (const [name, times] of ofGroup) console.log(`  ${name.slice(prefix.length).padEnd(22)}${times}`);
  }
}

async function tellShrunk(plan: Plan, { violations: [first] }: Outcome): Promise<void> {
  const simulation = new Simulation(code);
  const shrunk = await shrinkPlan(plan, first!.invariant, (candidate) => simulation.run(candidate));
  await simulation.stop();
  const folder = path.join(PROJECT_ROOT, "dist", "simulate");
  await mkdir(folder, { recursive: true });
  const file = path.join(folder, `seed-${plan.seed}.json`);
  await writeFile(file, JSON.stringify(shrunk.plan, undefined, 1));
  const { clients, steps, faults } = shrunk.plan;
  const size = `${clients.length} clients, ${steps.length} steps, ${faults.length} faults, in ${shrunk.runs} runs`;
  console.log(`\nseed ${plan.seed}, shrunk to ${size}. Again:`);
  console.log(`  npm run simulate -- --plan ${path.relative(PROJECT_ROOT, file)}`);
}

async function runOne(plan: Plan): Promise<void> {
  const simulation = new Simulation(code, { trace: values.trace });
  const outcome = await simulation.run(plan);
  await simulation.stop();
  count(outcome);
  summarise();
  for (const violation of outcome.violations) tell({ ...outcome, violations: [violation] });
  if (outcome.violations.length === 0) return console.log(`\nseed ${plan.seed}: nothing is broken`);
  failed.push(outcome);
  if (values.plan === undefined) await tellShrunk(plan, outcome);
}

/** Which seed finds which of the planted bugs, and by which rule, as the table of docs/reliability.md has it. */
async function tellPlanted(seeds: number): Promise<void> {
  const found: Array<PlantedBug & Found> = [];
  for (const planted of PLANTED_BUGS) {
    const one = await findPlanted(planted, seeds);
    if (one) found.push({ ...planted, ...one });
    else missed.push(planted.bug);
    console.log(one ? `seed ${one.seed}, in ${one.runs} runs: ${planted.bug}` : `NOT FOUND: ${planted.bug}`);
    if (one) console.log(`    ${one.violation.invariant}: ${one.violation.message.split("\n")[0]!.slice(0, 160)}`);
  }
  const table = plantedTable(found);
  console.log(`\n${table}\n\n${found.length} of ${PLANTED_BUGS.length} planted bugs were found`);
  if (!values.write || missed.length > 0) return;
  const seedsByBug = Object.fromEntries(found.map(({ bug, seed }) => [bug, seed]));
  await writeFile(SEEDS_FILE, `${JSON.stringify(seedsByBug, undefined, 2)}\n`);
  const docs = path.join(PROJECT_ROOT, "docs", "reliability.md");
  await writeFile(docs, withPlantedTable(await readFile(docs, "utf8"), table));
}

if (values.planted) await tellPlanted(Number(values.seeds));
else if (values.plan !== undefined) await runOne(JSON.parse(await readFile(values.plan, "utf8")) as Plan);
else if (values.seed !== undefined) await runOne(drawPlan(Number(values.seed)));
else await runSeeds(Number(values.from), Number(values.seeds), Number(values.workers));
process.exitCode = failed.length + missed.length > 0 ? 1 : 0;
