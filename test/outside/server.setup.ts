// Vitest calls this before the first outside test. It builds the bundle that all test servers run, and starts the two servers and the
// browser that most tests share. The returned function stops them.
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

import type { TestProject } from "vitest/node";

import { launchBrowserServer } from "../../scripts/chromium.ts";
import { DEPLOYMENT_FILE, PROJECT_ROOT, startServer } from "./servers.ts";

declare module "vitest" {
  interface ProvidedContext {
    readonly serverUrl: string;
    /** Of a server that takes posts as quickly as tests fill a room with them. */
    readonly fastServerUrl: string;
    /** The address at which tests control the browser. */
    readonly browserEndpoint: string;
  }
}

const BUNDLE_BYTES_MAX = 64 * 1024 * 1024;

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = mkdtempSync(path.join(tmpdir(), "parley-deployment-"));
  // Inherited by the processes of vitest and by the servers that tests start.
  process.env[DEPLOYMENT_FILE] = path.join(folder, "deployment.json");
  const [, browser] = await Promise.all([build(process.env[DEPLOYMENT_FILE]), launchBrowserServer()]);
  const [server, fast] = await Promise.all([
    startServer(),
    startServer({ settings: { MESSAGE_RATE: "10000", MESSAGE_BURST: "10000" } }),
  ]);
  project.provide("serverUrl", server.url);
  project.provide("fastServerUrl", fast.url);
  project.provide("browserEndpoint", browser.wsEndpoint());
  return async () => {
    await Promise.all([server.stop(), fast.stop(), browser.close()]);
    rmSync(folder, { recursive: true, force: true });
  };
}

async function build(file: string): Promise<void> {
  const script = path.join(PROJECT_ROOT, "scripts", "serve", "deployment.ts");
  const env = { ...process.env, WRANGLER_LOG: "error", WRANGLER_SEND_METRICS: "false" };
  const options = { env, maxBuffer: BUNDLE_BYTES_MAX };
  const { stdout } = await promisify(execFile)(process.execPath, [script, "development"], options);
  writeFileSync(file, stdout);
}
