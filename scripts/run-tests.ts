// Runs the checks and every suite, for `npm test`; with names of files their tests alone, and with another workerd what depends on it. The
// last line counts both.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { stripVTControlCharacters } from "node:util";

import { startVitest } from "vitest/node";

import { runChecks } from "./check.ts";
import { lastDateOf } from "./doctor/runtime.ts";
import { exitOnStop } from "./stopping.ts";
import { PROJECT_ROOT } from "./local-variables.ts";
import { helpOf, readOptions } from "./options.ts";

/** Patterns of the projects of vitest.config.ts. */
const OUTSIDE = "outside";
const OBJECTS = "*object*";
const ALL_PROJECTS = "*";

/**
 * Each is a run of vitest, with as many workers as suit it. All run side by side, and the checks beside them: tests of objects and of the whole
 * server wait more than they work; those in a browser keep processors busy, and would hold up the others if there were more at a time; and those of
 * the cores, which never wait, take what is left.
 */
const RUNS = [OUTSIDE, OBJECTS, "browser", "core"];

/** Of the tests outside, those of what a workerd may do otherwise: sleep, wakes and their costs. */
const OF_WORKERD = ["durability", "engine-crash", "engine-object", "sleep", "wakes"].map(
  (name) => `test/outside/${name}.test.ts`,
);

/** Of the reason of a failure, beside its name at the end. */
const REASON_LINES = 12;

const { values, positionals: filters } = readOptions(helpOf("test"), {
  allowPositionals: true,
  options: { long: { type: "boolean", default: false }, workerd: { type: "string" } },
});
// Read by test/host/properties.ts in each process of vitest.
if (values.long) process.env["LONG"] = "1";
if (values.workerd !== undefined) takeWorkerd(values.workerd === "newest" ? "latest" : values.workerd);

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

/**
 * Has all that starts workerd start this one, at the newest date that it takes: Miniflare looks for its program, and we for the date.
 * @param version of the package, or a tag of the registry
 */
function takeWorkerd(version: string): void {
  const folder = path.join(PROJECT_ROOT, "node_modules", ".cache", "workerd");
  const args = ["install", "--no-save", "--no-audit", "--no-fund", "--loglevel=error", "--prefix", folder];
  const { status } = spawnSync("npm", [...args, `workerd@${version}`], { stdio: ["ignore", "ignore", "inherit"] });
  if (status !== 0) {
    console.error(`workerd ${version} could not be installed.`);
    process.exit(1);
  }
  const installed = createRequire(path.join(folder, "package.json"))("workerd") as Workerd;
  const today = new Date().toISOString().slice(0, 10);
  const date = [today, lastDateOf(installed.version)!].toSorted()[0]!;
  process.env["MINIFLARE_WORKERD_PATH"] = installed.default;
  process.env["COMPATIBILITY_DATE"] = date;
  console.log(`workerd ${installed.version}, compatibility date ${date}`);
}

/** What the package exports. */
interface Workerd {
  readonly version: string;
  /** The program. */
  readonly default: string;
}

async function runAll(): Promise<number> {
  const isPart = filters.length > 0 || values.workerd !== undefined;
  const [checks, reports] = await Promise.all([isPart ? { passed: 0, failed: [] } : runChecks(), runSuites()]);
  const suites = reports.map(countsOf);
  const passed = checks.passed + sum(suites.map((counts) => counts.passed));
  const failed = checks.failed.length + sum(suites.map((counts) => counts.failed.length));
  const skipped = sum(suites.map((counts) => counts.skipped));
  for (const name of [...checks.failed, ...suites.flatMap((counts) => counts.failed)]) console.log(`FAILED  ${name}`);
  console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
  return failed === 0 && reports.every(({ success }) => success) ? 0 : 1;
}

async function runSuites(): Promise<Report[]> {
  if (filters.length > 0) return [await runVitest(ALL_PROJECTS, filters)];
  if (values.workerd !== undefined) return Promise.all([runVitest(OUTSIDE, OF_WORKERD), runVitest(OBJECTS)]);
  return Promise.all(RUNS.map((project) => runVitest(project)));
}

/**
 * @param project a pattern of names
 * @param files their names, or parts of them; all files without any
 */
async function runVitest(project: string, files: readonly string[] = []): Promise<Report> {
  const reportFile = path.join(mkdtempSync(path.join(scratch, "run-")), "report.json");
  const vitest = await startVitest("test", [...files], {
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
