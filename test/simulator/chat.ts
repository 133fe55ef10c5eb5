// The simulation of the chat, as tests and scripts start it: the bundle of this folder with the product, in threads. Called by
// simulator.test.ts, planted-search.ts and scripts/simulate.ts.
import path from "node:path";

import { bundle, type Edit } from "../kit/simulator/bundle.ts";
import { shrink } from "../kit/simulator/shrink.ts";
import { SimulationThread } from "../kit/simulator/threads.ts";
import { drawPlan, type Plan } from "./plan.ts";
import type { Outcome } from "./run.ts";
import type { Invariant } from "./witness.ts";

const HERE = import.meta.dirname;
const ROOT = path.join(HERE, "../..");

/** Tokens of a simulation are unsigned claims. */
const PLAIN_TOKENS: Edit = {
  file: "src/settings/tokens/tokens.ts",
  find: "const verified = await this.#signatures.verify(token);",
  replace: `const plain = JSON.parse(token) as Identity;
    if (plain.exp! * 1000 <= Date.now()) return { ok: false, code: "TOKEN_EXPIRED", message: "The token has expired" };
    if (plain) return { ok: true, identity: plain };
    const verified = await this.#signatures.verify(token);`,
};

/** @param planted a bug, from the root of the repository */
export const bundleChat = (planted?: Edit): Promise<string> =>
  bundle({
    entry: path.join(HERE, "worker.ts"),
    root: ROOT,
    opened: new RegExp(`^${RegExp.escape(ROOT)}/(src|durable|client)/[^.]*\\.ts$`),
    edits: [PLAIN_TOKENS, ...(planted ? [planted] : [])],
    replaced: { "product:objects": path.join(HERE, "stand-ins", "objects.ts") },
  });

/** One thread with the chat in it. */
export class Simulation extends SimulationThread<Plan, Outcome> {
  runSeed(seed: number): Promise<Outcome> {
    return this.run(drawPlan(seed));
  }
}

export const shrinkPlan = (
  plan: Plan,
  invariant: Invariant,
  run: (plan: Plan) => Promise<Outcome>,
): Promise<{ plan: Plan; runs: number }> =>
  shrink(plan, ["faults", "clients", "steps", "links"], async (candidate) => {
    const { violations } = await run(candidate);
    return violations[0]?.invariant === invariant;
  });
