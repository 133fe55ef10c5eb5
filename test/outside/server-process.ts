// One test server: the deployment that server.setup.ts has built, in workerd, with the settings of the environment. servers.ts
// starts it as `node test/outside/server-process.ts DEPLOYMENT-FILE STATE-DIRECTORY`.
import { readFileSync } from "node:fs";

import type { V4WorkerOptions } from "miniflare";

import { overridesFromEnvironment } from "../../scripts/setting-names.ts";
import { startRuntime } from "../../scripts/serve/runtime.ts";
import { onStop } from "../../scripts/stopping.ts";
import { HOST } from "./servers.ts";

const [deploymentFile, stateDir] = process.argv.slice(2);

/** A Worker, the export that requests reach, and Workers beside it that hold its objects. */
type Deployment = V4WorkerOptions & { readonly entrypoint?: string; readonly beside?: readonly V4WorkerOptions[] };

const {
  entrypoint = "direct",
  beside = [],
  ...worker
} = JSON.parse(readFileSync(deploymentFile!, "utf8")) as Deployment;
const withSettings = (options: V4WorkerOptions): V4WorkerOptions => ({
  ...options,
  bindings: { ...options.bindings, ...overridesFromEnvironment() },
});
const port = Number(process.env["PORT"]);
const runtime = await startRuntime(
  withSettings(worker),
  { address: { host: HOST, port }, entrypoint, stateDir: stateDir! },
  beside.map(withSettings),
);
let stopping: Promise<void> | undefined;
onStop(() => void (stopping ??= runtime.stop().then(() => process.exit(0))));
console.log(`Ready on http://${HOST}:${port}`);
