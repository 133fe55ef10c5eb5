// Prints the deployment for `npm run serve` and the servers of the tests as JSON: the bundle, and the bindings of
// wrangler.toml, from its top level or from the environment in the first argument. A second argument is an entry in the place of
// entry.js. A process of its own, because wrangler and esbuild would stay in the server's memory, 200 MB of it.
import path from "node:path";

import type { V4WorkerOptions } from "miniflare";
import { unstable_getMiniflareWorkerOptions } from "wrangler";

import { buildClient } from "../build-client.ts";
import { PROJECT_ROOT } from "../local-variables.ts";
import { bundleWorker } from "./bundle.ts";

const [, , environment, entryFile = path.join(import.meta.dirname, "entry.js")] = process.argv;
const [script] = await Promise.all([bundleWorker(entryFile), buildClient()]);
process.stdout.write(JSON.stringify(workerOf(script)));

function workerOf(script: string): V4WorkerOptions {
  const configFile = path.join(PROJECT_ROOT, "wrangler.toml");
  const { modulesRules: _, ...options } = unstable_getMiniflareWorkerOptions(configFile, environment || undefined)
    .workerOptions as V4WorkerOptions & { modulesRules?: unknown };
  return {
    ...options,
    name: "parley",
    modules: true,
    script,
    ...(options.assets && { assets: { ...options.assets, binding: "ASSETS" } }),
  };
}
