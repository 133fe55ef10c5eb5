// Vitest calls this before the first outside test. It builds the bundle that all test servers run, and starts the two servers and the
// browser that most tests share. The returned function stops them.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import type { TestProject } from "vitest/node";

import { launchBrowserServer } from "../../scripts/chromium.ts";
import { readDeployment } from "../../scripts/serve/self-hosted.ts";
import { DEPLOYMENT_FILE, startServer } from "./servers.ts";

declare module "vitest" {
  interface ProvidedContext {
    readonly serverUrl: string;
    /** Of a server that takes posts as quickly as tests fill a room with them. */
    readonly fastServerUrl: string;
    /** The address at which tests control the browser. */
    readonly browserEndpoint: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = mkdtempSync(path.join(tmpdir(), "parley-deployment-"));
  // Inherited by the processes of vitest and by the servers that tests start.
  process.env[DEPLOYMENT_FILE] = path.join(folder, "deployment.json");
  const [deployment, browser] = await Promise.all([readDeployment("development"), launchBrowserServer()]);
  writeFileSync(process.env[DEPLOYMENT_FILE], JSON.stringify(deployment));
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
