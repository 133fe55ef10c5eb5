// The public functions of simulations, without the parts that only Node has: testing.ts is imported in workerd, too.
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
  /** Breaks the same invariant again; shrunk to the needed steps, unless `shrinkRuns` is 0. JSON keeps all of it. */
  readonly plan: Plan;
  /** The steps and faults of the plan, a line each. */
  readonly steps: readonly string[];
  readonly shrinkRuns: number;
  readonly outcome: Outcome;
}

export interface SimulationResult<Plan extends AnyPlan = AnyPlan> {
  readonly runs: number;
  readonly failures: ReadonlyArray<SimulationFailure<Plan>>;
  /** Sums over all runs: events, connections, sleeps, and the counts of a scenario. */
  readonly counts: Readonly<Record<string, number>>;
  /** How often each step and each fault was carried out. */
  readonly done: Readonly<Record<string, number>>;
}

/** Hidden from bundlers, because those of tests in workerd would look for threads and esbuild there. */
const IN_NODE: string = "./simulate-in-node.ts";

async function inNode(): Promise<typeof import("./simulate-in-node.ts")> {
  if (globalThis.navigator?.userAgent === "Cloudflare-Workers")
    throw new Error("a simulation runs in Node: call it from a test outside workerd");
  return import(/* @vite-ignore */ IN_NODE) as Promise<typeof import("./simulate-in-node.ts")>;
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
  return (await inNode()).simulate(module, options);
}

/**
 * A simulation in one thread, for those who choose the plans themselves. To be stopped.
 * @param module as for `simulate`
 */
export async function openSimulation<Plan extends AnyPlan = AnyPlan>(
  module: string | URL,
  options: OpenOptions = {},
): Promise<SimulationThread<Plan>> {
  return (await inNode()).openSimulation(module, options);
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
