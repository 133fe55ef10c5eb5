// Plants one bug after the other in the product, and lets the simulator look for it: it must break the rule that guards against the bug.
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import type { SimulationThread } from "../kit/testing.ts";
import { drawPlan } from "./draw-plan.ts";
import { ONCE_BROKEN } from "./once-broken.ts";
import type { Plan } from "./plan.ts";
import { PLANTED_BUGS } from "./planted-bugs.ts";
import { findPlanted, openPlanted, PLANTED_SEEDS } from "./planted-search.ts";

/** Seeds that are tried for a planted bug which its own seed does not find any more. */
const OTHER_SEEDS = 30;
/** A bug that takes more runs makes every run of the tests longer. */
const RUNS_MAX = 4;
/** A short plan with shards, rules and features. */
const WITHOUT_BUG = 53;

describe("a planted bug", () => {
  let simulation: SimulationThread<Plan>;

  beforeAll(async () => {
    simulation = await openPlanted();
  });
  afterAll(() => simulation.stop());

  it.each(PLANTED_BUGS)("is found: $bug", async (planted) => {
    const found = await findPlanted(simulation, planted, { seeds: OTHER_SEEDS });
    expect(found).toMatchObject({ violation: { invariant: planted.breaks } });
    if (found!.runs > RUNS_MAX)
      console.warn(
        `${planted.bug}: found in run ${found!.runs}. Make the seeds anew: npm run simulate -- --planted --write`,
      );
  });

  it("is what breaks the rule: without any, nothing breaks one, also after all of them", async () => {
    expect((await simulation.run(drawPlan(WITHOUT_BUG, "short"))).outcome.violations).toEqual([]);
  });

  it("is found where a client whose first welcome was lost does not get all that it missed", async () => {
    const plantedBug = 1 + PLANTED_BUGS.findIndex(({ bug }) => bug === "recovery begins one message too late");
    const plan = { ...ONCE_BROKEN["a crash comes between CONNECT and welcome"]!, plantedBug };
    expect((await simulation.run(plan)).outcome.violations[0]).toMatchObject({ invariant: "recovered whole" });
  });

  it("has the seed that found it last in planted-seeds.json", () => {
    expect(Object.keys(PLANTED_SEEDS).toSorted()).toEqual(PLANTED_BUGS.map(({ bug }) => bug).toSorted());
  });
});
