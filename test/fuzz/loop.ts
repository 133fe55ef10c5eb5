// Fuzzes one target: mutates known inputs, keeps inputs that reach new code, and stops at a failing one. Called by fuzz.test.ts and
// scripts/fuzz.ts.
import type { Coverage } from "./coverage.ts";
import { Mutator } from "./mutate.ts";
import type { Target } from "./target.ts";

/** Looked at for new code together, because a look takes as long as a hundred inputs. */
const BATCH_INPUTS = 2000;
const BATCH_MS_MAX = 1500;
/** Nothing that people send takes so long to read: generous, for a machine that does other things too. */
const INPUT_MS_MAX = 5000;

export interface FuzzOptions {
  readonly random: () => number;
  readonly corpus: readonly string[];
  /** Ends it. */
  readonly isOver: (executions: number) => boolean;
  /** Without it nothing is learned on the way. */
  readonly coverage?: Coverage;
  /** Called with each input before it runs. */
  readonly next?: (input: string) => void;
}

export interface FuzzReading {
  readonly executions: number;
  /** Inputs that reached code which none before them did. */
  readonly found: readonly string[];
  readonly failure?: { readonly input: string; readonly error: unknown };
}

class Failure extends Error {
  readonly input: string;

  constructor(input: string, cause: unknown) {
    super("an input fails", { cause });
    this.input = input;
  }
}

export async function fuzz(target: Target, options: FuzzOptions): Promise<FuzzReading> {
  const { random, coverage, isOver, next } = options;
  const mutator = new Mutator(random, target.words);
  const known = [...target.seeds, ...options.corpus];
  const found: string[] = [];
  let executions = 0;
  const run = async (input: string): Promise<void> => {
    executions++;
    next?.(input);
    await runOne(target, input);
  };
  /** Finds those that reach new code, by halves. */
  const isolate = async (inputs: readonly string[], seen: Coverage): Promise<void> => {
    if (inputs.length === 1) {
      const input = inputs[0]!;
      await run(input);
      if (!seen.learn()) return;
      known.push(input);
      found.push(input);
      return;
    }
    const middle = Math.ceil(inputs.length / 2);
    for (const half of [inputs.slice(0, middle), inputs.slice(middle)]) {
      for (const one of half) await run(one);
      if (seen.grew()) await isolate(half, seen);
    }
  };
  try {
    for (const input of known) await run(input);
    coverage?.learn();
    while (!isOver(executions)) {
      const batch: string[] = [];
      const untilMs = performance.now() + BATCH_MS_MAX;
      while (batch.length < BATCH_INPUTS && performance.now() < untilMs && !isOver(executions)) {
        const input = mutator.next(known);
        batch.push(input);
        await run(input);
      }
      if (coverage?.grew()) await isolate(batch, coverage);
    }
    return { executions, found };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { executions, found, failure: { input: error.input, error: error.cause } };
  }
}

async function runOne({ run }: Target, input: string): Promise<void> {
  const startedMs = performance.now();
  try {
    await run(input);
  } catch (error) {
    throw new Failure(input, error);
  }
  const tookMs = performance.now() - startedMs;
  if (tookMs > INPUT_MS_MAX) throw new Failure(input, new Error(`it took ${Math.round(tookMs)} ms`));
}
