// Runs the Worker of a project in workerd, as `wrangler deploy --dry-run --outdir` has built it. Called by consumer.ts and templates.test.ts.
// Not with `wrangler dev`: that takes ten times as long to start, and on a busy machine its proxy loses the connection to the Worker, and answers 500 to
// a POST that is on its way.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

import type { V4WorkerOptions } from "miniflare";
import { unstable_getMiniflareWorkerOptions } from "wrangler";

import { startServer, type TestServer } from "./servers.ts";

/**
 * @param root the folder of the project, whose .dev.vars count
 * @param bundle the folder that Wrangler has written
 * @param variables in the place of those of the project
 */
export function serveBundle(
  root: string,
  bundle: string,
  variables: Readonly<Record<string, string>> = {},
): Promise<TestServer> {
  const configFile = ["wrangler.toml", "wrangler.jsonc"].map((name) => path.join(root, name)).find(existsSync)!;
  const { modulesRules: _, ...options } = unstable_getMiniflareWorkerOptions(configFile)
    .workerOptions as V4WorkerOptions & { modulesRules?: unknown };
  const deploymentFile = path.join(bundle, "deployment.json");
  const deployment = {
    ...options,
    name: path.basename(root),
    modules: true,
    script: readFileSync(path.join(bundle, "index.js"), "utf8"),
    entrypoint: "default",
  };
  writeFileSync(deploymentFile, JSON.stringify(deployment));
  return startServer({ deploymentFile, settings: variables });
}
