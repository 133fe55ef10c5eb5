// `npm run deploy`: `wrangler deploy` of the production set-up, which is the top level of wrangler.toml; further arguments are
// passed on.
import { spawnSync } from "node:child_process";
import path from "node:path";

import { PROJECT_ROOT } from "./local-variables.ts";

const wrangler = path.join(PROJECT_ROOT, "node_modules", "wrangler", "bin", "wrangler.js");
const args = process.argv.slice(2);
const environment = args.some((arg) => /^(--env|-e)(=|$)/.test(arg)) ? [] : ["--env", ""];
const { status } = spawnSync(process.execPath, [wrangler, "deploy", ...environment, ...args], {
  cwd: PROJECT_ROOT,
  stdio: "inherit",
  env: { ...process.env, WRANGLER_SEND_METRICS: "false" },
});
process.exit(status ?? 1);
