// `npm run cost`: a month's bill of a workload, from its numbers or from those of a load test. docs/cost.md explains the model.
import { readFileSync } from "node:fs";

import { helpOf } from "../help.ts";
import { filesFrom, textOf, writeFiles } from "./report.ts";
import { costReport, parseRun, readArguments } from "./usage.ts";

try {
  const wishes = readArguments(process.argv.slice(2));
  const files = filesFrom(wishes);
  const run = wishes.from === undefined ? undefined : parseRun(contentsOf(wishes.from), wishes.from);
  const report = costReport(wishes.usage, run);
  console.log(textOf(report));
  writeFiles(files, report);
} catch (error) {
  const { message } = error as Error;
  console.error(/--\w/.test(message) || /option/.test(message) ? `${message}\n${helpOf("cost")}` : message);
  process.exit(1);
}

function contentsOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new Error(`${file} cannot be read: ${(error as NodeJS.ErrnoException).code}`, { cause: error });
  }
}
