// Shrinks a plan that breaks a rule: leaves out each part without which the plan still breaks it. Called by scripts/simulate.ts.
import type { Plan } from "./plan.ts";
import type { Outcome } from "./run.ts";
import type { Invariant } from "./witness.ts";

/** Runs that one shrinking may take. */
const RUNS_MAX = 200;

const LISTS = ["faults", "clients", "steps", "links"] as const;

export async function shrink(
  plan: Plan,
  invariant: Invariant,
  run: (plan: Plan) => Promise<Outcome>,
): Promise<{ plan: Plan; runs: number }> {
  let smallest = plan;
  let runs = 0;
  const breaks = async (candidate: Plan): Promise<boolean> => {
    if (runs++ >= RUNS_MAX) return false;
    const { violations } = await run(candidate);
    return violations[0]?.invariant === invariant;
  };
  for (;;) {
    const sizeBefore = sizeOf(smallest);
    for (const list of LISTS) smallest = await without(smallest, list, breaks);
    if (sizeOf(smallest) === sizeBefore || runs >= RUNS_MAX) break;
  }
  return { plan: smallest, runs };
}

const sizeOf = (plan: Plan): number => LISTS.reduce((size, list) => size + plan[list].length, 0);

/** Leaves out halves, then quarters, … of one list. */
async function without(
  plan: Plan,
  list: (typeof LISTS)[number],
  breaks: (candidate: Plan) => Promise<boolean>,
): Promise<Plan> {
  let smallest = plan;
  for (let size = Math.ceil(plan[list].length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < smallest[list].length;) {
      const left = (smallest[list] as readonly unknown[]).filter((_, at) => at < from || at >= from + size);
      const candidate = { ...smallest, [list]: left } as Plan;
      if (await breaks(candidate)) smallest = candidate;
      else from += size;
    }
  }
  return smallest;
}
