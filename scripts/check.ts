// Checks types, lint, format and unused code: `npm run check`, and run-tests.ts beside the suites.
import { spawn } from "node:child_process";
import { setPriority } from "node:os";
import path from "node:path";

import { PROJECT_ROOT } from "./local-variables.ts";
import { helpOf, readOptions } from "./options.ts";

interface Check {
  readonly name: string;
  readonly command: readonly string[];
  /** The command that mends the problems of the check. */
  readonly mend?: string;
}

/** Types go first, because they emit the declarations of the package, by which lint knows the types of the pages' imports. */
const CHECKS: readonly Check[] = [
  { name: "types", command: ["node", "scripts/check-types.ts"] },
  { name: "lint", command: ["oxlint", "--type-aware", "--deny-warnings"] },
  { name: "format", command: ["oxfmt", "--check"], mend: "npm run format" },
  { name: "unused code", command: ["knip"] },
  {
    name: "settings page",
    command: ["node", "scripts/settings-page.ts", "--check"],
    mend: "node scripts/settings-page.ts",
  },
];

/** A `nice` value: in `npm test` the suites get the processors before the checks. */
const NICENESS = 10;

/**
 * Runs the checks one after the other, and prints the problems of each.
 * @returns the names of those that failed
 */
export async function runChecks(): Promise<{ passed: number; failed: string[] }> {
  const failed: string[] = [];
  for (const check of CHECKS) if (!(await passes(check))) failed.push(check.name);
  return { passed: CHECKS.length - failed.length, failed };
}

async function passes({ name, command: [program, ...args], mend }: Check): Promise<boolean> {
  const bin = path.join(PROJECT_ROOT, "node_modules", ".bin", program!);
  const child = spawn(bin, args, { cwd: PROJECT_ROOT, stdio: ["ignore", "pipe", "pipe"] });
  if (child.pid !== undefined) setPriority(child.pid, NICENESS);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  console.log(`${code === 0 ? "ok" : "FAILED"}  ${name}`);
  if (code !== 0) console.log(output + (mend ? `Run: ${mend}\n` : ""));
  return code === 0;
}

if (import.meta.main) {
  readOptions(helpOf("check"), { options: {} });
  if ((await runChecks()).failed.length > 0) process.exit(1);
}
