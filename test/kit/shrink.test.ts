// Shrinks plans that break an invariant.
import { expect, it } from "vitest";

import { shrink } from "./simulator/shrink.ts";

interface Plan {
  readonly steps: readonly number[];
  readonly faults: readonly number[];
}

const PLAN: Plan = { steps: Array.from({ length: 30 }, (_, at) => at), faults: [100, 101, 102] };

it("leaves out all that is not needed", async () => {
  const breaks = async ({ steps, faults }: Plan): Promise<boolean> => steps.includes(17) && faults.includes(101);
  expect(await shrink(PLAN, ["steps", "faults"], breaks)).toMatchObject({ plan: { steps: [17], faults: [101] } });
});

it("keeps steps that are needed together", async () => {
  const breaks = async ({ steps }: Plan): Promise<boolean> => steps.includes(3) && steps.includes(28);
  expect((await shrink(PLAN, ["steps", "faults"], breaks)).plan).toEqual({ steps: [3, 28], faults: [] });
});

it("leaves out nothing of a list that is not named", async () => {
  const { plan } = await shrink(PLAN, ["faults"], async () => true);
  expect(plan).toEqual({ ...PLAN, faults: [] });
});

it("gives up after some runs, with its best plan", async () => {
  const many: Plan = { steps: Array.from({ length: 2000 }, (_, at) => at), faults: [] };
  const needed = (steps: readonly number[]): number => steps.filter((step) => step % 2 === 0).length;
  const { plan, runs } = await shrink(many, ["steps"], async ({ steps }) => needed(steps) === 1000);
  expect(runs).toBe(200);
  expect(needed(plan.steps)).toBe(1000);
});
