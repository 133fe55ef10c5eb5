// Builds the Worker of the folder engine, with the sources of the package, and runs it in workerd. Called by the tests of `parley-rooms/engine`.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

import type { V4WorkerOptions } from "miniflare";
import { unstable_getMiniflareWorkerOptions } from "wrangler";

import { execute } from "./packages.ts";
import { PROJECT_ROOT, startServer, type TestServer } from "./servers.ts";

const PROJECT = path.join(import.meta.dirname, "engine");

/** Packages that a Worker can do without, as docs/stock-socket-io.md says, and what stands for them. */
const NOT_NEEDED = ["accepts", "debug", "engine.io", "ws"];
const NONE = path.join(PROJECT_ROOT, "scripts/create-parley/templates/engine/src/none.cjs");

/**
 * @param folder for the bundle
 * @param isSmall whether it leaves out what serves HTTP on Node
 * @returns the file that describes the deployment
 */
export async function bundleEngineWorker(folder: string, { isSmall = false } = {}): Promise<string> {
  const wrangler = path.join(PROJECT_ROOT, "node_modules", ".bin", "wrangler");
  const aliases = isSmall ? NOT_NEEDED.flatMap((name) => ["--alias", `${name}:${NONE}`]) : [];
  await execute([wrangler, "deploy", "--dry-run", "--outdir", folder, ...aliases], { cwd: PROJECT });
  const { modulesRules: _, ...options } = unstable_getMiniflareWorkerOptions(path.join(PROJECT, "wrangler.toml"))
    .workerOptions as V4WorkerOptions & { modulesRules?: unknown };
  const script = readFileSync(path.join(folder, "worker.js"), "utf8");
  const file = path.join(folder, "deployment.json");
  writeFileSync(file, JSON.stringify({ ...options, name: "stock", modules: true, script, entrypoint: "default" }));
  return file;
}

export const startEngineWorker = (deploymentFile: string, stateDir?: string): Promise<TestServer> =>
  startServer({ deploymentFile, ...(stateDir !== undefined && { stateDir }) });
