// Runs a simulation in a thread of its own, because it replaces the clock and all that depends on it.
import { Worker } from "node:worker_threads";

/** A run that takes longer has hung. */
const RUN_MS_MAX = 120_000;

/** One thread with a simulation in it: one run at a time. */
export class SimulationThread<Plan extends { readonly seed: number }, Outcome> {
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

  async stop(): Promise<void> {
    await this.#worker.terminate();
  }
}
