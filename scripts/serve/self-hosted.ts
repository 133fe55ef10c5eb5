// Serves the production bundle in workerd, with settings from the environment or .dev.vars. Called by self-host.ts, and by a server of the
// bench; keep-release.ts and tests build their deployments with it.
import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";

import type { V4WorkerOptions } from "miniflare";

import { withCompression } from "../../src/settings/compression-flags.ts";
import { PROJECT_ROOT, readLocalSettings, readLocalVariables, warnOfMisspeltSettings } from "../local-variables.ts";
import { assertPortFree, readPort } from "../port.ts";
import { onStop } from "../stopping.ts";
import { collectGarbageLessOften, startRuntime } from "./runtime.ts";
import { takeStateDirectory } from "./state-directory.ts";

const HOST_DEFAULT = "127.0.0.1";
const ENVIRONMENT = "production";
/** Queues live in this process's memory here, and relayed messages must survive a restart: so rooms call each other directly. */
const RELAY_DEFAULT = { RELAY: "direct" };
const BUNDLE_BYTES_MAX = 64 * 1024 * 1024;

/**
 * Serves until the process is asked to stop, and says when it is ready.
 * @param state the folder of its rooms
 * @param entryFile an entry of the Worker in the place of the usual one
 */
export async function serveAlone(state: string, entryFile?: string): Promise<void> {
  const address = { host: process.env["HOST"] || HOST_DEFAULT, port: readPort(process.env["PORT"]) };
  const { compression } = readLocalSettings(ENVIRONMENT);
  warnOfMisspeltSettings();
  await assertPortFree(address.port, address.host, "npm run serve");
  const stateDir = path.resolve(PROJECT_ROOT, state);
  takeStateDirectory(stateDir);
  const worker = await readDeployment("", entryFile);
  const bindings = { ...worker.bindings, ...RELAY_DEFAULT, ...readLocalVariables(ENVIRONMENT) };
  const compatibilityFlags = withCompression(worker.compatibilityFlags ?? [], compression);
  collectGarbageLessOften();
  const runtime = await startRuntime(
    { ...worker, bindings, compatibilityFlags },
    { address, entrypoint: "direct", stateDir },
  );
  let stopping: Promise<void> | undefined;
  onStop(() => void (stopping ??= runtime.stop().then(() => process.exit(0))));
  console.log(`Ready on http://${address.host}:${address.port}`);
}

/**
 * Builds the Worker, with the bindings of wrangler.toml, in a process of its own: wrangler and esbuild would stay in this one's memory.
 * @param environment of wrangler.toml; its top level without one
 * @param entryFile in the place of entry.js
 */
export async function readDeployment(environment = "", entryFile?: string): Promise<V4WorkerOptions> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [path.join(import.meta.dirname, "deployment.ts"), environment, ...(entryFile === undefined ? [] : [entryFile])],
    {
      maxBuffer: BUNDLE_BYTES_MAX,
      env: {
        ...process.env,
        WRANGLER_LOG: "error",
        WRANGLER_SEND_METRICS: "false",
        CLOUDFLARE_LOAD_DEV_VARS_FROM_DOT_ENV: "false",
      },
    },
  ).catch((error: { stderr?: string; message: string }) => {
    throw new Error(`The bundle could not be built: ${error.stderr || error.message}`, { cause: error });
  });
  return JSON.parse(stdout) as V4WorkerOptions;
}
