// A scenario: all that can be simulated by seed, replayed and shrunk. Declared by a simulation's module, carried out by thread.ts, and driven
// from outside by threads.ts.
import type { ListsOf } from "./shrink.ts";

/** The plan of one run, as data. */
export interface AnyPlan {
  readonly seed: number;
  /** The seed of latencies and ids, which a plan leaves open. Absent: `seed`. */
  readonly luck?: number;
}

/** An invariant that did not hold. */
export interface Violation<Invariant extends string = string> {
  readonly invariant: Invariant;
  readonly message: string;
  /** Since the run began. */
  readonly atMs: number;
}

/** The result of a run. */
export interface Outcome<Invariant extends string = string> {
  readonly seed: number;
  /** The first is the one to look at. Often one bug breaks several invariants. */
  readonly violations: ReadonlyArray<Violation<Invariant>>;
  readonly counts: Readonly<Record<string, number>>;
  /** How often each fault, and each step, was carried out. */
  readonly done: Readonly<Record<string, number>>;
}

export interface Scenario<Plan extends AnyPlan = AnyPlan> {
  /** Draws the plan of a seed. */
  draw(seed: number): Plan;
  /** Carries out a plan. The same plan gives the same outcome. */
  run(plan: Plan): Promise<Outcome>;
  /** The lists of a plan that shrinking leaves parts out of. */
  readonly lists: ReadonlyArray<ListsOf<Plan>>;
  /** The steps and faults of a plan, a line each. */
  describe(plan: Plan): readonly string[];
}
