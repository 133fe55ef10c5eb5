// Checks types, lint, format and unused code: `npm run check`, and run-tests.ts beside the suites.
import { spawn } from "node:child_process";
import path from "node:path";
import { Readable } from "node:stream";

import { PROJECT_ROOT } from "./local-variables.ts";
import { helpOf, readOptions } from "./options.ts";

interface Check {
  readonly name: string;
  readonly command: readonly string[];
  /** The command that mends the problems of the check. */
  readonly mend?: string;
}

/** Goes first, because it emits the declarations of the package, by which lint knows the types of the pages' imports. */
const TYPES: Check = { name: "types", command: ["node", "scripts/check-types.ts"] };

const OTHERS: readonly Check[] = [
  { name: "lint", command: ["oxlint", "--type-aware", "--deny-warnings"] },
  { name: "format", command: ["oxfmt", "--check"], mend: "npm run format" },
  { name: "unused code", command: ["knip"] },
  {
    name: "settings page",
    command: ["node", "scripts/settings-page.ts", "--check"],
    mend: "node scripts/settings-page.ts",
  },
];

/**
 * Runs the checks, those after the first two at a time, and prints the problems of each.
 * @returns the names of those that failed
 */
export async function runChecks(): Promise<{ passed: number; failed: string[] }> {
  const failed: string[] = (await passes(TYPES)) ? [] : [TYPES.name];
  const run = async (check: Check): Promise<void> => {
    if (!(await passes(check))) failed.push(check.name);
  };
  await Readable.from(OTHERS).forEach(run, { concurrency: 2 });
  return { passed: 1 + OTHERS.length - failed.length, failed };
}

async function passes({ name, command: [program, ...args], mend }: Check): Promise<boolean> {
  const bin = path.join(PROJECT_ROOT, "node_modules", ".bin", program!);
  const child = spawn(bin, args, { cwd: PROJECT_ROOT, stdio: ["ignore", "pipe", "pipe"] });
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
