// `npm run cost`: a month's bill of a workload, from its numbers or from those of a load test. docs/cost.md explains the model.
import { readFileSync } from "node:fs";

import { runCommand } from "../options.ts";
import { requireWritable, textOf, writeFiles } from "./report.ts";
import { costReport, parseRun, readArguments } from "./usage.ts";

await runCommand("cost", async () => {
  const { usage, from, ...files } = readArguments(process.argv.slice(2));
  requireWritable(files);
  const report = costReport(usage, from === undefined ? undefined : parseRun(contentsOf(from), from));
  console.log(textOf(report));
  writeFiles(files, report);
});

function contentsOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new Error(`${file} cannot be read: ${(error as NodeJS.ErrnoException).code}`, { cause: error });
  }
}
