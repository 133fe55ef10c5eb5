// Finds planted bugs, however the product may have changed since: first by the seed that found each of them last, then by the
// same plan with other luck, then by seed after seed.
import { readFileSync } from "node:fs";
import path from "node:path";

import { openChat } from "./chat.ts";
import type { PlantedChatBug } from "./planted-bugs.ts";
import { drawPlan } from "./draw-plan.ts";
import type { Plan } from "./plan.ts";
import type { Violation } from "../kit/testing.ts";

/** Which seed found which bug last, by the bug's name: `npm run simulate -- --planted --write` writes it. */
export const SEEDS_FILE = path.join(import.meta.dirname, "planted-seeds.json");
export const PLANTED_SEEDS = JSON.parse(readFileSync(SEEDS_FILE, "utf8")) as Readonly<Record<string, number>>;

/** How often the plan that found a bug last is tried with other luck. */
const OTHER_LUCK = 3;

export interface Found {
  readonly seed: number;
  /** Runs that it took. */
  readonly runs: number;
  readonly violation: Violation;
}

/** @param seeds how many are tried after the one that is known */
function* candidates({ bug, isCostly, isInShards }: PlantedChatBug, seeds: number): Generator<Plan> {
  const known = PLANTED_SEEDS[bug];
  const size = isCostly ? "any" : "short";
  if (known !== undefined) {
    const plan = drawPlan(known, size);
    yield plan;
    for (let times = 1; times <= OTHER_LUCK; times++) yield { ...plan, luck: known + times * 1_000_003 };
  }
  for (let seed = 1, tried = 0; tried < seeds; seed++) {
    const plan = drawPlan(seed, size);
    if (isInShards && !plan.shards) continue;
    tried++;
    if (seed !== known) yield plan;
  }
}

/** @returns the first run in which the bug breaks the rule that it should; nothing if there is none */
export async function findPlanted(planted: PlantedChatBug, seeds: number): Promise<Found | undefined> {
  const simulation = await openChat(planted, ...(planted.also ? [planted.also] : []));
  try {
    let runs = 0;
    for (const plan of candidates(planted, seeds)) {
      const [violation] = (await simulation.run(plan)).outcome.violations;
      runs++;
      if (violation?.invariant === planted.breaks) return { seed: plan.seed, runs, violation };
    }
    return undefined;
  } finally {
    await simulation.stop();
  }
}
