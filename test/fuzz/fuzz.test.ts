// Fuzzes every parser of foreign input: with the kept corpus, then with new inputs from a fresh seed; `--long` also from a fixed one.
// `npm run fuzz` does it for longer, led by the code that inputs reach.
import { describe, expect, it } from "vitest";

import { seededRandom } from "../../scripts/random.ts";
import { readCorpus } from "./corpus.ts";
import { fuzz } from "./loop.ts";
import { TARGETS } from "./targets.ts";
import { IS_LONG } from "../host/properties.ts";

const FRESH = { which: "a fresh", seed: Math.floor(Math.random() * 2 ** 31) };
const FIXED = { which: "the fixed", seed: 20_261_121 };
/** Each begins with the whole corpus. */
const SEEDS = IS_LONG ? [FIXED, FRESH] : [FRESH];
/** Per target and seed, after the corpus. */
const FUZZ_MS = IS_LONG ? 300 : 75;

describe.each(TARGETS.map((target) => ({ name: target.name, target })))("$name", ({ target }) => {
  it.each(SEEDS)("survives its corpus and mutations of it, from $which seed $seed", async ({ seed }) => {
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
