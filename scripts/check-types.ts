// Checks all types, for check.ts: first what the package promises, then everything, against that.
import { spawnSync } from "node:child_process";
import path from "node:path";

import { PROJECT_ROOT } from "./local-variables.ts";
import { emitLibrary } from "./package/emit.ts";

try {
  await emitLibrary();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
const tsc = path.join(PROJECT_ROOT, "node_modules", ".bin", "tsc");
process.exit(spawnSync(tsc, ["-b"], { cwd: PROJECT_ROOT, stdio: "inherit" }).status ?? 1);
