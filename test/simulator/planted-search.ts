// Finds planted bugs, however the product may have changed since: first by the seed that found each of them last, then by the
// same plan with other luck, then by seed after seed.
import { readFileSync } from "node:fs";
import path from "node:path";

import { openChat } from "./chat.ts";
import { PLANTED_BUGS, type PlantedChatBug } from "./planted-bugs.ts";
import { withSwitches } from "./planted-switches.ts";
import { drawPlan } from "./draw-plan.ts";
import type { Plan } from "./plan.ts";
import type { SimulationThread, Violation } from "../kit/testing.ts";

/** Which seed found which bug last, by the bug's name: `npm run simulate -- --planted --write` writes it. */
export const SEEDS_FILE = path.join(import.meta.dirname, "planted-seeds.json");

/** The plan of a seed, and with which luck it is carried out: 0 is the seed's own. */
export interface Draw {
  readonly seed: number;
  readonly luck: number;
}

/** A seed, and the luck that is not its own behind a point, as 7 or 7.2. */
export const PLANTED_SEEDS = JSON.parse(readFileSync(SEEDS_FILE, "utf8")) as Readonly<Record<string, string>>;

export const nameOf = ({ seed, luck }: Draw): string => (luck === 0 ? String(seed) : `${seed}.${luck}`);

function drawOf(name: string): Draw {
  const [seed, luck = 0] = name.split(".").map(Number);
  return { seed: seed!, luck };
}

/** How often the plan that found a bug last is tried with other luck. */
const OTHER_LUCK = 3;

export interface Found extends Draw {
  /** Which of the runs it was: 1 is that of the known seed. */
  readonly runs: number;
  /** What happened until the rule was broken: the cost of the run. */
  readonly events: number;
  readonly violation: Violation;
}

/** @param seeds how many are tried after the one that is known */
function* candidates({ bug, isCostly, isInShards }: PlantedChatBug, seeds: number): Generator<Draw & { plan: Plan }> {
  const size = isCostly ? "any" : "short";
  const planOf = (draw: Draw): Draw & { plan: Plan } => {
    const plan = drawPlan(draw.seed, size);
    return { ...draw, plan: draw.luck === 0 ? plan : { ...plan, luck: draw.seed + draw.luck * 1_000_003 } };
  };
  const known = PLANTED_SEEDS[bug];
  if (known !== undefined) {
    const draw = drawOf(known);
    yield planOf(draw);
    for (let luck = 0; luck <= OTHER_LUCK; luck++) if (luck !== draw.luck) yield planOf({ ...draw, luck });
  }
  for (let seed = 1, tried = 0; tried < seeds; seed++) {
    const found = planOf({ seed, luck: 0 });
    if (isInShards && !found.plan.shards) continue;
    tried++;
    if (String(seed) !== known) yield found;
  }
}

/** One thread with all planted bugs in it, each behind its switch. */
export const openPlanted = (): Promise<SimulationThread<Plan>> => openChat(...withSwitches(PLANTED_BUGS));

/**
 * @param wanted of so many runs that find the bug the one with the fewest events is taken
 * @returns a run in which the bug breaks the rule that it should; nothing if there is none
 */
export async function findPlanted(
  simulation: SimulationThread<Plan>,
  planted: PlantedChatBug,
  { seeds, wanted = 1 }: { readonly seeds: number; readonly wanted?: number },
): Promise<Found | undefined> {
  const plantedBug = PLANTED_BUGS.indexOf(planted) + 1;
  const found: Found[] = [];
  let runs = 0;
  for (const { seed, luck, plan } of candidates(planted, seeds)) {
    const { violations, counts } = (await simulation.run({ ...plan, plantedBug })).outcome;
    const [violation] = violations;
    runs++;
    if (violation?.invariant !== planted.breaks) continue;
    found.push({ seed, luck, runs, events: counts["events"]!, violation });
    if (found.length === wanted) break;
  }
  return found.toSorted((one, other) => one.events - other.events)[0];
}
