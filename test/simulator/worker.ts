// The entry of the bundle that runs in a thread of its own: plans in, outcomes out.
import { parentPort } from "node:worker_threads";

import { replaceResponses, fetchOver } from "../kit/simulator/network.ts";
import type { Plan } from "./plan.ts";
import { Run, type Outcome } from "./run.ts";
import { checkConsole } from "./console-errors.ts";
import { replaceRuntime } from "../kit/simulator/world.ts";

replaceRuntime(fetchOver);
replaceResponses();
// The outcome of a run holds the problems that were found.
checkConsole();

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- to a thread, not to a window
const answer = (outcome: Outcome): void => parentPort!.postMessage(outcome);

parentPort!.on("message", (plan: Plan) => {
  const failed = (error: unknown): void => {
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const violations = [{ invariant: "no trouble", message, atMs: -1 } as const];
    answer({ seed: plan.seed, violations, counts: {}, done: {} });
  };
  new Run(plan).go().then(answer, failed);
});
