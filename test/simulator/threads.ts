// Runs the simulator in threads of its own, because it replaces the clock and all that depends on it.
import { Worker } from "node:worker_threads";

import { drawPlan, type Plan } from "./plan.ts";
import type { Outcome } from "./run.ts";

/** A run that takes longer hangs. */
const RUN_MS_MAX = 120_000;

/** One thread with the simulator in it: one run at a time. */
export class Simulation {
  readonly #worker: Worker;
  #end: ((end: Outcome | Error) => void) | undefined;

  /** @param code the bundle */
  constructor(code: string, { trace = false } = {}) {
    // Not by a data: URL, which would be part of every line of every stack: megabytes each.
    this.#worker = new Worker(code, { eval: true, workerData: { trace } });
    this.#worker.on("message", (outcome: Outcome) => this.#end?.(outcome));
    this.#worker.on("error", (error: Error) => this.#end?.(error));
  }

  run(plan: Plan): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => this.#end?.(new Error(`seed ${plan.seed} hangs`)), RUN_MS_MAX);
      this.#end = (end) => {
        this.#end = undefined;
        clearTimeout(late);
        if (end instanceof Error) reject(end);
        else resolve(end);
      };
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- to a thread, not to a window
      this.#worker.postMessage(plan);
    });
  }

  seed(seed: number): Promise<Outcome> {
    return this.run(drawPlan(seed));
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }
}
