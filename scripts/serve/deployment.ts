// Prints what `npm run serve` and the servers of the tests run, as JSON: the bundle, and the bindings of wrangler.toml, from its top level and
// from the environment `development`. A process of its own, because wrangler and esbuild would stay in the server's memory, 200 MB of it.
import path from "node:path";

import type { V4WorkerOptions } from "miniflare";
import { unstable_getMiniflareWorkerOptions, unstable_readConfig } from "wrangler";

import { buildClient } from "../build-client.ts";
import { PROJECT_ROOT } from "../local-variables.ts";
import { bundleWorker } from "./bundle.ts";

const [script] = await Promise.all([bundleWorker(path.join(import.meta.dirname, "entry.js")), buildClient()]);
process.stdout.write(JSON.stringify({ production: workerOf(), development: workerOf("development") }));

function workerOf(environment?: string): V4WorkerOptions {
  const config = unstable_readConfig({
    config: path.join(PROJECT_ROOT, "wrangler.toml"),
    ...(environment !== undefined && { env: environment }),
  });
  const { modulesRules: _, ...options } = unstable_getMiniflareWorkerOptions(config, environment)
    .workerOptions as V4WorkerOptions & { modulesRules?: unknown };
  return {
    ...options,
    // Without those of .dev.vars: who runs the Worker adds them, and its secrets stay out of what is kept.
    bindings: config.vars as V4WorkerOptions["bindings"] & {},
    name: "parley",
    modules: true,
    script,
    ...(options.assets && { assets: { ...options.assets, binding: "ASSETS" } }),
  };
}
