// Runs the Worker of a project in workerd, as `wrangler deploy --dry-run --outdir` has built it. Called by consumer.ts and templates.test.ts. And the
// options of a Worker, which consumer.ts and engine-worker.ts share.
// Not with `wrangler dev`: that takes ten times as long to start, and on a busy machine its proxy loses the connection to the Worker, and answers 500 to
// a POST that is on its way.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

import type { V4WorkerOptions } from "miniflare";

import { startServer, type TestServer } from "./servers.ts";

export const CONFIGURATIONS = ["wrangler.toml", "wrangler.jsonc"];

/** Ends the name of a file beside a project with the Worker's options. */
const OPTIONS = ".options.json";

/** Has `optionsOf` find those of a Worker without Wrangler, which takes a second to load in each process that reads them itself. */
export async function keepOptions(root: string, project = root): Promise<void> {
  writeFileSync(`${project}${OPTIONS}`, JSON.stringify(await readOptions(root)));
}

/** All that workerd has to know of the Worker of a project but its script. */
export async function optionsOf(project: string): Promise<V4WorkerOptions> {
  const kept = `${project}${OPTIONS}`;
  return existsSync(kept) ? (JSON.parse(readFileSync(kept, "utf8")) as V4WorkerOptions) : readOptions(project);
}

async function readOptions(root: string): Promise<V4WorkerOptions> {
  const { unstable_getMiniflareWorkerOptions } = await import("wrangler");
  const configFile = CONFIGURATIONS.map((name) => path.join(root, name)).find(existsSync)!;
  const { modulesRules: _, ...options } = unstable_getMiniflareWorkerOptions(configFile)
    .workerOptions as V4WorkerOptions & { modulesRules?: unknown };
  return options;
}

/**
 * @param root the folder of the project, whose .dev.vars count
 * @param bundle the folder that Wrangler has written
 * @param variables in the place of those of the project
 */
export async function serveBundle(
  root: string,
  bundle: string,
  variables: Readonly<Record<string, string>> = {},
): Promise<TestServer> {
  const deploymentFile = path.join(bundle, "deployment.json");
  const deployment = {
    ...(await optionsOf(root)),
    name: path.basename(root),
    modules: true,
    script: readFileSync(path.join(bundle, "index.js"), "utf8"),
    entrypoint: "default",
  };
  writeFileSync(deploymentFile, JSON.stringify(deployment));
  return startServer({ deploymentFile, settings: variables });
}
