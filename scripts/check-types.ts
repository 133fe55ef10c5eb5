// Checks all types, for check.ts: first the declarations of the package, then everything, against those.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";

import { PROJECT_ROOT } from "./local-variables.ts";
import { emitLibrary, LIBRARY } from "./package/emit.ts";

const hadLibrary = existsSync(LIBRARY);
try {
  await emitLibrary();
} catch (error) {
  // A source that cannot even be read.
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
const tsc = path.join(PROJECT_ROOT, "node_modules", ".bin", "tsc");
// What was checked without the library is checked again: the compiler does not notice that a package can be found now.
const again = hadLibrary ? [] : ["--force"];
// The compiler builds two projects at a time with one checker each: further checkers of a project repeat its work, and cost a third more CPU time.
const { status } = spawnSync(tsc, ["-b", "--checkers", "1", "--builders", "2", ...again], {
  cwd: PROJECT_ROOT,
  stdio: "inherit",
});
process.exit(status ?? 1);
