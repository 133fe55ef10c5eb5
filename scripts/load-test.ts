// The load test behind `npm run load`. docs/load.md explains it and its report.
import { accessSync, constants, existsSync, writeFileSync } from "node:fs";
import path from "node:path";

import { readArguments, type LoadArguments } from "./load/arguments.ts";
import { htmlOf } from "./load/html.ts";
import { progressOn } from "./load/progress.ts";
import type { LoadReport } from "./load/report.ts";
import { raceTest, readRaceArguments } from "./load/race.ts";
import { LoadRun } from "./load/run.ts";
import { LOAD_PEERS, openTarget } from "./load/target.ts";
import { textOf } from "./load/text.ts";
import { helpOf } from "./help.ts";
import { EXIT_INTERRUPTED, onStop } from "./stopping.ts";

/** A terminal tells its Ctrl-C to every process of the command: the same one may arrive twice. */
const SAME_INTERRUPT_MS = 1000;

try {
  const args = process.argv.slice(2);
  process.exit(
    args.includes("--race")
      ? await raceTest(checkFiles(orUsage(() => readRaceArguments(args))))
      : await loadTest(checkFiles(orUsage(() => readArguments(args, LOAD_PEERS)))),
  );
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}

function orUsage<Arguments>(read: () => Arguments): Arguments {
  try {
    return read();
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${helpOf("load")}`, { cause: error });
  }
}

async function loadTest(args: LoadArguments): Promise<number> {
  const interrupt = onInterrupt();
  const target = await openTarget(args);
  try {
    const report = await new LoadRun(args, target, progressOn(process.stderr), interrupt).run();
    console.log(textOf(report));
    write(args, report);
    return { clean: 0, faults: 1, incomplete: 1, interrupted: EXIT_INTERRUPTED }[report.outcome];
  } finally {
    await target.stop();
  }
}

/** The first Ctrl-C asks for the results so far, another one ends at once. */
function onInterrupt(): AbortSignal {
  const controller = new AbortController();
  let firstAtMs: number | undefined;
  onStop(() => {
    const nowMs = Date.now();
    if (firstAtMs !== undefined && nowMs - firstAtMs > SAME_INTERRUPT_MS) process.exit(EXIT_INTERRUPTED);
    firstAtMs ??= nowMs;
    controller.abort();
  });
  return controller.signal;
}

/** Checks at the start: a mistake found at the end would waste the whole run. @returns the same arguments */
function checkFiles<Files extends { readonly jsonFile?: string; readonly htmlFile?: string }>(args: Files): Files {
  const { jsonFile, htmlFile } = args;
  for (const [name, file] of Object.entries({ json: jsonFile, html: htmlFile })) {
    if (file === undefined) continue;
    try {
      accessSync(existsSync(file) ? file : path.dirname(path.resolve(file)), constants.W_OK);
    } catch (error) {
      throw new Error(`--${name} ${file} cannot be written: ${(error as Error).message}`, { cause: error });
    }
  }
  return args;
}

function write({ jsonFile, htmlFile }: LoadArguments, report: LoadReport): void {
  if (jsonFile !== undefined) writeFileSync(jsonFile, `${JSON.stringify(report, null, 2)}\n`);
  if (htmlFile !== undefined) writeFileSync(htmlFile, htmlOf(report));
}
