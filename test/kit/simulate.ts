// Runs a simulation: seed after seed, in threads, and shrinks the plans that break an invariant. Called by tests and scripts, in Node.
// Everything of Node's is loaded when it is needed, because testing.ts is imported in workerd, too.
import type { BundleOptions } from "./simulator/bundle.ts";
import type { AnyPlan, Outcome, Violation } from "./simulator/scenario.ts";
import type { SimulationThread } from "./simulator/threads.ts";

export type { PlantedBug } from "./simulator/bundle.ts";

/** How a simulation is built. */
export interface OpenOptions extends BundleOptions {
  /** Prints each event of a run. */
  readonly trace?: boolean;
}

export interface SimulateOptions<Plan extends AnyPlan = AnyPlan> extends OpenOptions {
  /** How many seeds are tried, each a run of its own. Default: 100. */
  readonly seeds?: number;
  /** The first seed. Default: 1. */
  readonly from?: number;
  /** Runs this plan instead, as a failure has it. */
  readonly plan?: Plan;
  /** Threads at a time. Default: 1. */
  readonly workers?: number;
  /** Begins no run after this. */
  readonly minutes?: number;
  /** The plans of so many failures are shrunk, which takes up to 200 runs each. Default: 1. */
  readonly shrinks?: number;
  /** No further seed is tried after so many failures. Default: 1. */
  readonly failuresMax?: number;
  /** Called with the outcome of each seed. */
  readonly onRun?: (outcome: Outcome) => void;
}

/** A seed that breaks an invariant. */
export interface SimulationFailure<Plan extends AnyPlan = AnyPlan> extends Violation {
  readonly seed: number;
  /** Breaks the same invariant again; shrunk to what it needs for that, unless `shrinkRuns` is 0. JSON keeps all of it. */
  readonly plan: Plan;
  /** The steps and faults of the plan, a line each. */
  readonly steps: readonly string[];
  readonly shrinkRuns: number;
  readonly outcome: Outcome;
}

export interface SimulationResult<Plan extends AnyPlan = AnyPlan> {
  readonly runs: number;
  readonly failures: ReadonlyArray<SimulationFailure<Plan>>;
  /** Sums over all runs: events, connections, sleeps, and what a scenario counts. */
  readonly counts: Readonly<Record<string, number>>;
  /** How often each step and each fault was carried out. */
  readonly done: Readonly<Record<string, number>>;
}

/** The oldest Node that has node:sqlite without a flag. */
const NODE_MIN = [22, 13] as const;

/** @returns the text of the bundle that threads run */
async function bundled(module: string | URL, options: BundleOptions): Promise<string> {
  const [major = 0, minor = 0] = (globalThis.process?.versions?.node ?? "0").split(".").map(Number);
  if (major < NODE_MIN[0] || (major === NODE_MIN[0] && minor < NODE_MIN[1]))
    throw new Error(
      `a simulation needs Node ${NODE_MIN.join(".")} or newer, for node:sqlite; it cannot run in workerd`,
    );
  const [{ bundle }, { fileURLToPath }] = await Promise.all([import("./simulator/bundle.ts"), import("node:url")]);
  const path = typeof module === "string" && !module.startsWith("file:") ? module : fileURLToPath(module);
  return bundle(path, options);
}

/**
 * A simulation in one thread, for those who choose the plans themselves. To be stopped.
 * @param module path or file URL of a module whose default export is a scenario, as `simulation(…)` makes it
 */
export async function openSimulation<Plan extends AnyPlan = AnyPlan>(
  module: string | URL,
  { trace = false, ...options }: OpenOptions = {},
): Promise<SimulationThread<Plan>> {
  const [code, { SimulationThread }] = await Promise.all([bundled(module, options), import("./simulator/threads.ts")]);
  return new SimulationThread<Plan>(code, { trace });
}

/**
 * Simulates seed after seed, and stops at the first that breaks an invariant.
 * @param module path or file URL of a module whose default export is a scenario, as `simulation(…)` makes it. It is a module of its own,
 * because it runs in a thread where clock, timers and randomness are those of the simulation, and `cloudflare:workers` is there.
 */
export async function simulate<Plan extends AnyPlan = AnyPlan>(
  module: string | URL,
  options: SimulateOptions<Plan> = {},
): Promise<SimulationResult<Plan>> {
  const { seeds = 100, from = 1, plan, workers = 1, minutes = Infinity, shrinks = 1, failuresMax = 1 } = options;
  const [code, { SimulationThread }] = await Promise.all([bundled(module, options), import("./simulator/threads.ts")]);
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
  const [{ SimulationThread }, { shrink }] = await Promise.all([
    import("./simulator/threads.ts"),
    import("./simulator/shrink.ts"),
  ]);
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

/** @throws Error that says which seed breaks which invariant, by which steps and faults, and how to run it again */
export function assertHolds({ failures: [first], runs }: SimulationResult): void {
  if (!first) return;
  const { seed, invariant, message, atMs, steps, plan, shrinkRuns } = first;
  const indented = (lines: readonly string[]): string => lines.map((line) => `  ${line}`).join("\n");
  throw new Error(
    [
      `seed ${seed} breaks "${invariant}" after ${atMs} ms (run ${runs}):`,
      indented(message.split("\n")),
      `${shrinkRuns > 0 ? `shrunk in ${shrinkRuns} runs to` : "by"}:`,
      indented(steps.length > 0 ? steps : ["no step and no fault at all"]),
      `To run it again: simulate(MODULE, { plan: ${JSON.stringify(plan)} })`,
    ].join("\n"),
  );
}
