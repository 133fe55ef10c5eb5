// `npm run check`: types, lint, format, unused code. `npm test` runs the same list before the suites.
import { spawnSync } from "node:child_process";
import path from "node:path";

import { PROJECT_ROOT } from "./local-variables.ts";

interface Check {
  readonly name: string;
  readonly command: readonly string[];
}

const CHECKS: readonly Check[] = [
  { name: "types", command: ["tsc", "-b"] },
  { name: "lint", command: ["oxlint", "--type-aware", "--deny-warnings"] },
  { name: "format", command: ["oxfmt", "--check"] },
  { name: "unused code", command: ["knip"] },
  { name: "settings page", command: ["node", "scripts/settings-page.ts", "--check"] },
];

/** Runs every check and prints what it found. @returns the names of those that failed */
export function runChecks(): { passed: number; failed: string[] } {
  const failed = CHECKS.filter((check) => !passes(check)).map(({ name }) => name);
  return { passed: CHECKS.length - failed.length, failed };
}

function passes({ name, command: [program, ...args] }: Check): boolean {
  const bin = path.join(PROJECT_ROOT, "node_modules", ".bin", program!);
  const { status, stdout, stderr } = spawnSync(bin, args, { cwd: PROJECT_ROOT, encoding: "utf8" });
  console.log(`${status === 0 ? "ok" : "FAILED"}  ${name}`);
  if (status !== 0) console.log(`${stdout}${stderr}`);
  return status === 0;
}

if (import.meta.main && runChecks().failed.length > 0) process.exit(1);
