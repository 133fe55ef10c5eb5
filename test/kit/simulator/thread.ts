// The entry of the bundle that runs in a thread of its own: seeds and plans in, outcomes out. Asked by threads.ts.
import { parentPort } from "node:worker_threads";

import "simulation:install";
import scenario from "simulation:module";

import { textOf } from "./planned.ts";
import type { AnyPlan, Outcome } from "./scenario.ts";

/** The requests to the thread. */
export type Question = { readonly draw: number } | { readonly run: AnyPlan };

export type Answer =
  | { readonly plan: AnyPlan; readonly lists: readonly string[] }
  | { readonly outcome: Outcome; readonly described: readonly string[] }
  /** Not an outcome: the module of the simulation is wrong. */
  | { readonly error: string };

async function answerTo(question: Question): Promise<Answer> {
  if ("draw" in question) return { plan: scenario.draw(question.draw), lists: scenario.lists };
  const plan = question.run;
  const outcome = await scenario.run(plan).catch((error: unknown) => failed(plan, error));
  return { outcome, described: scenario.describe(plan) };
}

const failed = (plan: AnyPlan, error: unknown): Outcome => {
  const violations = [{ invariant: "no trouble", message: textOf(error), atMs: -1 }];
  return { seed: plan.seed, violations, counts: {}, done: {} };
};

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- to a thread, not to a window
const answer = (given: Answer): void => parentPort!.postMessage(given);

parentPort!.on("message", (question: Question) => {
  answerTo(question).then(answer, (error: unknown) => answer({ error: textOf(error) }));
});
