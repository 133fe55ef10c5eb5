// A thread with a simulation in it. It is a thread of its own because a simulation replaces clock, timers and randomness of all code around
// it. Started by ../simulate-in-node.ts.
import { Worker } from "node:worker_threads";

import { textOf } from "./planned.ts";
import type { AnyPlan, Outcome } from "./scenario.ts";
import type { Answer, Question } from "./thread.ts";

/** A run that takes longer has hung. */
const RUN_MS_MAX = 600_000;

export class SimulationThread<Plan extends AnyPlan = AnyPlan> {
  readonly #worker: Worker;
  #finish: ((result: Answer) => void) | undefined;
  #failure: Answer | undefined;

  /**
   * @param code the text of the bundle that bundle.ts makes
   * @param trace whether the thread prints each step
   */
  constructor(code: string, { trace = false } = {}) {
    // Not as a data: URL, which each line of each stack would repeat: megabytes.
    // Without its type Node would compile the code once more to find out whether it is a module.
    this.#worker = new Worker(code, { eval: true, execArgv: ["--input-type=commonjs"], workerData: { trace } });
    this.#worker.on("message", (answer: Answer) => this.#take(answer));
    this.#worker.on("error", (error: unknown) => this.#take({ error: textOf(error) }));
  }

  #take(answer: Answer): void {
    // A module that throws as it is loaded answers nothing that it is asked later.
    if ("error" in answer && !this.#finish) this.#failure = answer;
    this.#finish?.(answer);
  }

  /** Draws the plan of a seed. @returns it with those of its lists that shrinking may shorten */
  async draw(seed: number): Promise<{ readonly plan: Plan; readonly lists: readonly string[] }> {
    return (await this.#ask({ draw: seed }, `the plan of seed ${seed}`)) as { plan: Plan; lists: readonly string[] };
  }

  /** Carries out a plan, one at a time. @returns the outcome, and the plan's steps and faults in words */
  async run(plan: Plan): Promise<{ readonly outcome: Outcome; readonly described: readonly string[] }> {
    const answer = await this.#ask({ run: plan }, `seed ${plan.seed}`);
    return answer as { outcome: Outcome; described: readonly string[] };
  }

  async #ask(question: Question, what: string): Promise<Answer> {
    const { promise, resolve } = Promise.withResolvers<Answer>();
    this.#finish = resolve;
    if (this.#failure) resolve(this.#failure);
    const late = setTimeout(() => resolve({ error: `${what} hangs` }), RUN_MS_MAX);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- to a thread, not to a window
    this.#worker.postMessage(question);
    const answer = await promise;
    clearTimeout(late);
    this.#finish = undefined;
    if ("error" in answer) throw new Error(`the simulation failed: ${answer.error}`);
    return answer;
  }

  async stop(): Promise<void> {
    await this.#worker.terminate();
  }
}
