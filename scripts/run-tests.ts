// Runs the checks and every suite, for `npm test`; with names of files their tests alone. The last line counts both.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { startVitest } from "vitest/node";

import { runChecks } from "./check.ts";
import { exitOnStop } from "./stopping.ts";
import { helpOf } from "./help.ts";
import { readOptions } from "./options.ts";

/**
 * The projects of vitest.config.ts, in runs of vitest one after the other: tests of the ring outside watch the heartbeats and
 * timeouts of real servers, which need the cores for themselves. The checks run beside the first.
 */
const RUNS: ReadonlyArray<readonly string[]> = [["!outside"], ["outside"]];

const { values, positionals: filters } = readOptions(helpOf("test"), {
  allowPositionals: true,
  options: { long: { type: "boolean", default: false } },
});
// Read by test/host/properties.ts in each process of vitest.
if (values.long) process.env["LONG"] = "1";

exitOnStop();
const scratch = mkdtempSync(path.join(tmpdir(), "parley-tests-"));
try {
  process.exitCode = await runAll();
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
// Test servers that hang on must not keep a finished run from ending.
process.exit();

async function runAll(): Promise<number> {
  const runs = filters.length > 0 ? [[]] : RUNS;
  const checking = filters.length > 0 ? { passed: 0, failed: [] } : runChecks();
  const reports: Report[] = [];
  for (const [index, projects] of runs.entries())
    reports.push(await runVitest(projects, path.join(scratch, `report-${index}.json`)));
  const checks = await checking;
  const suites = reports.map(countsOf);
  const passed = checks.passed + sum(suites.map((counts) => counts.passed));
  const failed = checks.failed.length + sum(suites.map((counts) => counts.failed.length));
  const skipped = sum(suites.map((counts) => counts.skipped));
  for (const name of [...checks.failed, ...suites.flatMap((counts) => counts.failed)]) console.log(`FAILED  ${name}`);
  console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
  return failed === 0 && reports.every(({ success }) => success) ? 0 : 1;
}

async function runVitest(project: readonly string[], reportFile: string): Promise<Report> {
  const vitest = await startVitest("test", [...filters], {
    watch: false,
    project: [...project],
    // The summary that the default reporter redraws on a terminal has no place beside the lines of another run.
    reporters: [["default", { summary: false }], "json"],
    outputFile: { json: reportFile },
  });
  await vitest.close();
  return JSON.parse(readFileSync(reportFile, "utf8")) as Report;
}

interface Report {
  readonly success: boolean;
  readonly numPassedTests: number;
  readonly numPendingTests: number;
  readonly testResults: readonly TestFile[];
}

interface TestFile {
  readonly name: string;
  readonly status: string;
  readonly assertionResults: ReadonlyArray<{ readonly status: string; readonly fullName: string }>;
}

function countsOf(report: Report): { passed: number; failed: string[]; skipped: number } {
  return {
    passed: report.numPassedTests,
    failed: report.testResults.flatMap(failuresOf),
    skipped: report.numPendingTests,
  };
}

/** A file that could not even be loaded has no tests to count: it counts as one that failed. */
function failuresOf({ name, status, assertionResults }: TestFile): string[] {
  const failed = assertionResults.filter((test) => test.status === "failed");
  if (status === "failed" && assertionResults.length === 0) return [name];
  return failed.map(({ fullName }) => `${name}: ${fullName}`);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
