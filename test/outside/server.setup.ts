// Vitest calls this before the first outside test. It builds the bundle that all test servers run, and starts the two servers that most
// tests share. The returned function stops them.
import { mkdtempSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import type { TestProject } from "vitest/node";

import { readDeployment } from "../../scripts/serve/self-hosted.ts";
import { DEPLOYMENT_FILE, startServer } from "./servers.ts";

declare module "vitest" {
  interface ProvidedContext {
    readonly serverUrl: string;
    /** Of a server that takes posts as quickly as tests fill a room with them. */
    readonly fastServerUrl: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = mkdtempSync(path.join(tmpdir(), "parley-deployment-"));
  // Inherited by the processes of vitest and by the servers that tests start.
  process.env[DEPLOYMENT_FILE] = path.join(folder, "deployment.json");
  writeFileSync(process.env[DEPLOYMENT_FILE], JSON.stringify(await readDeployment("development")));
  const [server, fast] = await Promise.all([
    startServer({ settings: { LINK_CARDS: "on" } }),
    startServer({ settings: { LINK_CARDS: "on", MESSAGE_RATE: "10000", MESSAGE_BURST: "10000" } }),
  ]);
  project.provide("serverUrl", server.url);
  project.provide("fastServerUrl", fast.url);
  return async () => {
    await Promise.all([server.stop(), fast.stop()]);
    // A folder of installed packages takes a while, in which vitest ends its processes.
    await rm(folder, { recursive: true, force: true });
  };
}
