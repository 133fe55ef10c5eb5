// Turns of long work: their size follows from how long the last turn took.
import { expect, it } from "vitest";

import { TakingTurns, TURN_MS, TURN_STEPS_MAX } from "../../src/relay/taking-turns.ts";

/** Steps that each take so long of the thread that they share with others. @returns the sizes of the turns */
async function turnsOf(steps: number, stepMs: (step: number) => number): Promise<number[]> {
  let nowMs = 0;
  const sizes: number[] = [0];
  const turns = new TakingTurns({
    now: () => nowMs,
    giveWay: async () => {
      nowMs += 1;
      sizes.push(0);
    },
  });
  for (let step = 0; step < steps; step++) {
    await turns.next();
    nowMs += stepMs(step);
    sizes[sizes.length - 1]!++;
  }
  return sizes;
}

it("a turn of quick steps grows up to TURN_STEPS_MAX", async () => {
  const sizes = await turnsOf(100, () => 0);
  expect(sizes.slice(0, 4)).toEqual([1, 2, 3, 4]);
  expect(Math.max(...sizes)).toBe(TURN_STEPS_MAX);
});

it("a step that takes a whole turn is the only one of its turn", async () => {
  expect(new Set(await turnsOf(20, () => 5 * TURN_MS))).toEqual(new Set([1]));
});

it("turns shrink while steps are slow, and grow again", async () => {
  const sizes = await turnsOf(300, (step) => (step >= 100 && step < 200 ? 3 * TURN_MS : 0));
  expect(Math.max(...sizes.slice(0, 10))).toBe(TURN_STEPS_MAX);
  expect(sizes.filter((size) => size === 1).length).toBeGreaterThan(80);
  expect(sizes.at(-2)).toBe(TURN_STEPS_MAX);
});

it("callers that wait at the same time go in a row", async () => {
  let ways = 0;
  const turns = new TakingTurns({ now: () => ways, giveWay: async () => void ways++ });
  const waysAtStep = await Promise.all(Array.from({ length: 6 }, () => turns.next().then(() => ways)));
  expect(waysAtStep).toEqual([0, 1, 1, 2, 2, 2]);
});
