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
import { choose, helpOf, number, readOptions, runCommand, whole } from "./options.ts";

const SECONDS_DEFAULT = 30;
const SECONDS_MIN = 0.001;
const SECONDS_MAX = 86_400;
const SEED_MAX = 2 ** 31;
/** 1 says that a target failed. */
const EXIT_FAILED = 2;

exitOnStop();
await runCommand("fuzz", async () => ((await run()) ? 0 : 1), EXIT_FAILED);

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
      seconds: { type: "string" },
      seed: { type: "string" },
      keep: { type: "boolean", default: false },
    },
  });
  const chosen = choose(
    "target",
    positionals,
    TARGETS.map(({ name }) => name),
  );
  return {
    targets: TARGETS.filter(({ name }) => chosen.includes(name)),
    seconds: number(values, "seconds", SECONDS_DEFAULT, SECONDS_MIN, SECONDS_MAX),
    seed: whole(values, "seed", Math.floor(Math.random() * SEED_MAX), 0, SEED_MAX),
    isKeeping: values.keep,
  };
}
