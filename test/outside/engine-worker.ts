// Builds the Worker of the folder engine, with the sources of the package. Called by the tests of `parley-rooms/engine`.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

import { optionsOf } from "./bundle-server.ts";
import { copyProjects } from "./consumer.ts";
import { once } from "./once.ts";
import { execute } from "./packages.ts";
import { PROJECT_ROOT } from "./servers.ts";

const DEPLOYMENT = "deployment.json";
const PROJECT = path.join(import.meta.dirname, "engine");

/** Packages that a Worker can do without, as docs/stock-socket-io.md says, and what stands for them. */
const NOT_NEEDED = ["accepts", "debug", "engine.io", "ws"];
const NONE = path.join(PROJECT_ROOT, "scripts/create-parley/templates/engine/src/none.cjs");

/**
 * Built once in a run of the tests.
 * @param isSmall whether it leaves out what serves HTTP on Node
 * @returns the file that describes the deployment
 */
export async function bundleEngineWorker({ isSmall = false } = {}): Promise<string> {
  return path.join(await once(isSmall ? "small engine" : "engine", (folder) => bundle(folder, isSmall)), DEPLOYMENT);
}

async function bundle(folder: string, isSmall: boolean): Promise<void> {
  const wrangler = path.join(PROJECT_ROOT, "node_modules", ".bin", "wrangler");
  const aliases = isSmall ? NOT_NEEDED.flatMap((name) => ["--alias", `${name}:${NONE}`]) : [];
  await execute([wrangler, "deploy", "--dry-run", "--outdir", folder, ...aliases], { cwd: PROJECT });
  const options = await optionsOf(path.join(await copyProjects(), path.basename(PROJECT)));
  const script = readFileSync(path.join(folder, "worker.js"), "utf8");
  const deployment = { ...options, name: "stock", modules: true, script, entrypoint: "default" };
  writeFileSync(path.join(folder, DEPLOYMENT), JSON.stringify(deployment));
}
