// Runs the checks, then every suite, for `npm test`; with names of files their tests alone. The last line counts both.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";

import { startVitest } from "vitest/node";

import { runChecks } from "./check.ts";
import { exitOnStop } from "./stopping.ts";

const { values, positionals: filters } = parseArgs({
  allowPositionals: true,
  options: { long: { type: "boolean", default: false } },
});
// Read by test/host/properties.ts in each process of vitest.
if (values.long) process.env["LONG"] = "1";

exitOnStop();
const scratch = mkdtempSync(path.join(tmpdir(), "parley-tests-"));
try {
  process.exitCode = await runAll(path.join(scratch, "report.json"));
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
// Test servers that hang on must not keep a finished run from ending.
process.exit();

async function runAll(reportFile: string): Promise<number> {
  const checks = filters.length > 0 ? { passed: 0, failed: [] } : await runChecks();
  const vitest = await startVitest("test", filters, {
    watch: false,
    reporters: ["default", "json"],
    outputFile: { json: reportFile },
  });
  await vitest.close();
  const report = JSON.parse(readFileSync(reportFile, "utf8")) as Report;
  // A file that could not even be loaded has no tests to count: it counts as one that failed.
  const brokenFiles = report.testResults.filter(
    (file) => file.status === "failed" && file.assertionResults.length === 0,
  );
  const passed = checks.passed + report.numPassedTests;
  const failed = checks.failed.length + report.numFailedTests + brokenFiles.length;
  const skipped = report.numPendingTests > 0 ? `, ${report.numPendingTests} skipped` : "";
  console.log(`${passed} passed, ${failed} failed${skipped}`);
  return failed === 0 && report.success ? 0 : 1;
}

interface Report {
  readonly success: boolean;
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly testResults: ReadonlyArray<{ readonly status: string; readonly assertionResults: readonly unknown[] }>;
}
