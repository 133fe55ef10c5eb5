// Fuzzes every parser of foreign input: with the kept corpus, then with new inputs from a fixed seed and from a fresh one.
// `npm run fuzz` does it for longer, led by the code that inputs reach.
import { describe, expect, it } from "vitest";

import { seededRandom } from "../../scripts/random.ts";
import { readCorpus } from "./corpus.ts";
import { fuzz } from "./loop.ts";
import { TARGETS } from "./targets.ts";
import { IS_LONG } from "../host/properties.ts";

const FIXED_SEED = 20_261_121;
const FRESH_SEED = Math.floor(Math.random() * 2 ** 31);
/** Per target and seed, after the corpus. */
const FUZZ_MS = IS_LONG ? 300 : 75;

describe.each(TARGETS.map((target) => ({ name: target.name, target })))("$name", ({ target }) => {
  it.each([
    { which: "the fixed", seed: FIXED_SEED },
    { which: "a fresh", seed: FRESH_SEED },
  ])("survives its corpus and mutations of it, from $which seed $seed", async ({ seed }) => {
    const untilMs = performance.now() + FUZZ_MS;
    const isOver = (): boolean => performance.now() > untilMs;
    const { failure, executions } = await fuzz(target, {
      random: seededRandom(seed),
      corpus: readCorpus(target.name),
      isOver,
    });
    expect(failure && { seed, ...failure }).toBeUndefined();
    expect(executions).toBeGreaterThanOrEqual(target.seeds.length);
  });
});
