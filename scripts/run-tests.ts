// Runs the checks and every suite, for `npm test`; with names of files their tests alone. The last line counts both.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { stripVTControlCharacters } from "node:util";

import { startVitest } from "vitest/node";

import { runChecks } from "./check.ts";
import { exitOnStop } from "./stopping.ts";
import { helpOf } from "./help.ts";
import { readOptions } from "./options.ts";

/**
 * Patterns of the projects of vitest.config.ts, each with a run of vitest of its own. All run side by side, and the checks beside them: tests of
 * objects and of the whole server wait more than they work, and those of the cores, which never wait, take the time that they leave.
 */
const RUNS = ["outside", "*object*", "core"];
const ALL_PROJECTS = ["*"];

/** Of the reason of a failure, beside its name at the end. */
const REASON_LINES = 12;

const { values, positionals: filters } = readOptions(helpOf("test"), {
  allowPositionals: true,
  options: { long: { type: "boolean", default: false } },
});
// Read by test/host/properties.ts in each process of vitest.
if (values.long) process.env["LONG"] = "1";

exitOnStop();
const scratch = mkdtempSync(path.join(tmpdir(), "parley-tests-"));
// Tests start hundreds of Node programs: each finds the compiled code of the modules that an earlier one loaded.
process.env["NODE_COMPILE_CACHE"] = path.join(scratch, "compiled");
try {
  process.exitCode = await runAll();
} finally {
  // A program that ends late may still write there.
  rmSync(scratch, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}
// Test servers that hang on must not keep a finished run from ending.
process.exit();

async function runAll(): Promise<number> {
  const [checks, reports] = await Promise.all([
    filters.length > 0 ? { passed: 0, failed: [] } : runChecks(),
    Promise.all((filters.length > 0 ? ALL_PROJECTS : RUNS).map(runVitest)),
  ]);
  const suites = reports.map(countsOf);
  const passed = checks.passed + sum(suites.map((counts) => counts.passed));
  const failed = checks.failed.length + sum(suites.map((counts) => counts.failed.length));
  const skipped = sum(suites.map((counts) => counts.skipped));
  for (const name of [...checks.failed, ...suites.flatMap((counts) => counts.failed)]) console.log(`FAILED  ${name}`);
  console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
  return failed === 0 && reports.every(({ success }) => success) ? 0 : 1;
}

/** @param project a pattern of names */
async function runVitest(project: string): Promise<Report> {
  const reportFile = path.join(mkdtempSync(path.join(scratch, "run-")), "report.json");
  const vitest = await startVitest("test", [...filters], {
    watch: false,
    project,
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
  readonly message: string;
  readonly assertionResults: readonly TestResult[];
}

interface TestResult {
  readonly status: string;
  readonly fullName: string;
  readonly failureMessages?: readonly string[];
}

function countsOf(report: Report): { passed: number; failed: string[]; skipped: number } {
  return {
    passed: report.numPassedTests,
    failed: report.testResults.flatMap(failuresOf),
    skipped: report.numPendingTests,
  };
}

/** A file that cannot be loaded, or whose set-up fails, has no failed tests to count: it counts as one. */
function failuresOf({ name, status, message, assertionResults }: TestFile): string[] {
  const file = path.relative(process.cwd(), name);
  const failed = assertionResults.filter((test) => test.status === "failed");
  if (status === "failed" && failed.length === 0) return [`${file}\n${beginningOf(message)}`];
  return failed.map(
    ({ fullName, failureMessages = [] }) => `${file}: ${fullName}\n${beginningOf(failureMessages.join("\n"))}`,
  );
}

/** The reason, indented: who sees the end of a run alone sees it, too. */
function beginningOf(message: string): string {
  const lines = stripVTControlCharacters(message).split("\n").slice(0, REASON_LINES);
  return lines.map((line) => `        ${line}`).join("\n");
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
