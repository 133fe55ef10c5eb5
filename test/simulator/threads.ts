// Runs the simulator in a thread of its own, because it replaces the clock and all that depends on it. Used by
// simulator.test.ts, planted-search.ts and scripts/simulate.ts.
import { Worker } from "node:worker_threads";

import { drawPlan, type Plan } from "./plan.ts";
import type { Outcome } from "./run.ts";

/** A run that takes longer has hung. */
const RUN_MS_MAX = 120_000;

/** One thread with the simulator in it: one run at a time. */
export class Simulation {
  readonly #worker: Worker;
  #finish: ((result: Outcome | Error) => void) | undefined;

  /**
   * @param code the text of the bundle that bundle.ts makes
   * @param trace whether the thread prints each step
   */
  constructor(code: string, { trace = false } = {}) {
    // Not as a data: URL, which each line of each stack would repeat: megabytes.
    this.#worker = new Worker(code, { eval: true, workerData: { trace } });
    this.#worker.on("message", (outcome: Outcome) => this.#finish?.(outcome));
    this.#worker.on("error", (error: Error) => this.#finish?.(error));
  }

  run(plan: Plan): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => this.#finish?.(new Error(`seed ${plan.seed} hangs`)), RUN_MS_MAX);
      this.#finish = (result) => {
        this.#finish = undefined;
        clearTimeout(late);
        if (result instanceof Error) reject(result);
        else resolve(result);
      };
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- to a thread, not to a window
      this.#worker.postMessage(plan);
    });
  }

  runSeed(seed: number): Promise<Outcome> {
    return this.run(drawPlan(seed));
  }

  async stop(): Promise<void> {
    await this.#worker.terminate();
  }
}
