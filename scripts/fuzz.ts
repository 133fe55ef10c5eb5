// Fuzzes all parsers of foreign input, guided by code coverage (docs/reliability.md).
//   npm run fuzz -- [TARGET…] [--seconds N] [--seed N] [--keep]

import { seededRandom } from "./random.ts";
import { keepInCorpus, readCorpus } from "../test/fuzz/corpus.ts";
import { Coverage } from "../test/fuzz/coverage.ts";
import { fuzz, type FuzzReading } from "../test/fuzz/loop.ts";
import type { Target } from "../test/fuzz/target.ts";
import { TARGETS } from "../test/fuzz/targets.ts";
import { startWatchdog } from "../test/fuzz/watchdog.ts";
import { exitOnStop } from "./stopping.ts";
import { helpOf } from "./help.ts";
import { readOptions } from "./options.ts";

const SECONDS_DEFAULT = 30;
const SEED_MAX = 2 ** 31;

exitOnStop();

try {
  process.exit((await run()) ? 0 : 1);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(2);
}

async function run(): Promise<boolean> {
  const { targets, seconds, seed, isKeeping } = readArguments();
  const minutes = Math.ceil((targets.length * seconds) / 60);
  console.log(`${targets.length} targets, ${seconds} s each: about ${minutes} min; seed ${seed}`);
  const next = startWatchdog();
  let [failures, executions] = [0, 0];
  for (const target of targets) {
    const coverage = new Coverage();
    coverage.skip();
    const untilMs = performance.now() + seconds * 1000;
    const isOver = (): boolean => performance.now() > untilMs;
    const corpus = readCorpus(target.name);
    const reading = await fuzz(target, { random: seededRandom(seed), corpus, coverage, isOver, next });
    coverage.stop();
    print(target, reading, coverage.size);
    executions += reading.executions;
    if (reading.failure) failures++;
    if (isKeeping) console.log(`  kept ${keepInCorpus(target.name, keepable(reading))}`);
  }
  console.log(`${executions} executions, ${failures} failures`);
  return failures === 0;
}

function keepable({ found, failure }: FuzzReading): string[] {
  return [...found, ...(failure ? [failure.input] : [])];
}

function print({ name }: Target, { executions, found, failure }: FuzzReading, pieces: number): void {
  console.log(
    `${name}: ${executions} executions, ${found.length} inputs that reach new code, ${pieces} pieces of code`,
  );
  if (failure) console.log(`  FAILS on ${JSON.stringify(failure.input)}\n`, failure.error);
}

function readArguments(): { targets: readonly Target[]; seconds: number; seed: number; isKeeping: boolean } {
  const { values, positionals } = readOptions(helpOf("fuzz"), {
    allowPositionals: true,
    options: {
      seconds: { type: "string", default: String(SECONDS_DEFAULT) },
      seed: { type: "string", default: String(Math.floor(Math.random() * SEED_MAX)) },
      keep: { type: "boolean", default: false },
    },
  });
  const odd = positionals.find((name) => !TARGETS.some((target) => target.name === name));
  if (odd !== undefined)
    throw new Error(`There is no target "${odd}"; there are ${TARGETS.map(({ name }) => name).join(", ")}.`);
  const [seconds, seed] = [Number(values.seconds), Number(values.seed)];
  if (!(seconds > 0)) throw new Error(`--seconds must be a number above 0, not "${values.seconds}".`);
  if (!Number.isInteger(seed)) throw new Error(`--seed must be a whole number, not "${values.seed}".`);
  const targets = TARGETS.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
  return { targets, seconds, seed, isKeeping: values.keep };
}
