// Runs simulations: bundles a module, starts threads, tries seed after seed, and shrinks the plans that break an invariant. Loaded by
// simulate.ts, which has the public functions.
import process from "node:process";
import { fileURLToPath } from "node:url";

import type { OpenOptions, SimulateOptions, SimulationFailure, SimulationResult } from "./simulate.ts";
import { checkOpenOptions, checkSimulateOptions } from "./simulate-options.ts";
import { bundle, type BundleOptions } from "./simulator/bundle.ts";
import type { AnyPlan, Outcome } from "./simulator/scenario.ts";
import { shrink } from "./simulator/shrink.ts";
import { SimulationThread } from "./simulator/threads.ts";

/** The oldest Node that has node:sqlite without a flag. */
const NODE_MIN = [22, 13] as const;

/** @returns the text of the bundle that threads run */
async function bundled(module: string | URL, options: BundleOptions): Promise<string> {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major < NODE_MIN[0] || (major === NODE_MIN[0] && minor < NODE_MIN[1]))
    throw new Error(`a simulation needs Node ${NODE_MIN.join(".")} or newer, for node:sqlite`);
  const path = typeof module === "string" && !module.startsWith("file:") ? module : fileURLToPath(module);
  return bundle(path, options);
}

export async function openSimulation<Plan extends AnyPlan = AnyPlan>(
  module: string | URL,
  { trace = false, ...options }: OpenOptions,
): Promise<SimulationThread<Plan>> {
  checkOpenOptions({ trace, ...options });
  return new SimulationThread<Plan>(await bundled(module, options), { trace });
}

export async function simulate<Plan extends AnyPlan = AnyPlan>(
  module: string | URL,
  options: SimulateOptions<Plan>,
): Promise<SimulationResult<Plan>> {
  checkSimulateOptions(options as SimulateOptions<never>);
  const { seeds = 100, from = 1, plan, workers = 1, minutes = Infinity, shrinks = 1, failuresMax = 1 } = options;
  const code = await bundled(module, options);
  const endMs = Date.now() + minutes * 60_000;
  const broken: Array<{ readonly plan: Plan; readonly outcome: Outcome; readonly described: readonly string[] }> = [];
  const sums = { counts: new Map<string, number>(), done: new Map<string, number>() };
  let runs = 0;
  let seed = from;
  const take = async (thread: SimulationThread<Plan>, taken: Plan): Promise<void> => {
    const { outcome, described } = await thread.run(taken);
    runs++;
    for (const name of ["counts", "done"] as const)
      for (const [what, times] of Object.entries(outcome[name]))
        sums[name].set(what, (sums[name].get(what) ?? 0) + times);
    if (outcome.violations.length > 0) broken.push({ plan: taken, outcome, described });
    options.onRun?.(outcome);
  };
  const work = async (): Promise<void> => {
    const thread = new SimulationThread<Plan>(code, { trace: options.trace ?? false });
    try {
      if (plan) return await take(thread, plan);
      while (seed < from + seeds && broken.length < failuresMax && Date.now() < endMs)
        await take(thread, (await thread.draw(seed++)).plan);
    } finally {
      await thread.stop();
    }
  };
  await Promise.all(Array.from({ length: plan ? 1 : workers }, work));
  const failures: Array<SimulationFailure<Plan>> = [];
  for (const [at, one] of broken.toSorted((a, b) => a.plan.seed - b.plan.seed).entries()) {
    const { outcome } = one;
    const shrunk = at < shrinks ? await shrunkOf(code, one.plan, outcome) : { ...one, shrinkRuns: 0 };
    const { plan: smallest, described: steps, shrinkRuns } = shrunk;
    failures.push({ ...outcome.violations[0]!, seed: one.plan.seed, plan: smallest, steps, shrinkRuns, outcome });
  }
  return { runs, failures, counts: Object.fromEntries(sums.counts), done: Object.fromEntries(sums.done) };
}

/** Shrinks a plan, in a thread without trace. */
async function shrunkOf<Plan extends AnyPlan>(
  code: string,
  plan: Plan,
  { violations }: Outcome,
): Promise<{ plan: Plan; described: readonly string[]; shrinkRuns: number }> {
  const thread = new SimulationThread<Plan>(code);
  try {
    const { lists } = await thread.draw(plan.seed);
    const shrunk = await shrink(plan, lists as never, async (candidate) => {
      const { outcome } = await thread.run(candidate);
      return outcome.violations[0]?.invariant === violations[0]!.invariant;
    });
    const { described } = await thread.run(shrunk.plan);
    return { plan: shrunk.plan, described, shrinkRuns: shrunk.runs };
  } finally {
    await thread.stop();
  }
}
