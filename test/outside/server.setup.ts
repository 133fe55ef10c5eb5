// Vitest calls this for each of the projects "outside" and "browser", before its first test. The first call builds the bundle that all test servers
// run, and starts the two servers that most tests share. The returned function stops them after the last project.
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

interface Servers {
  readonly serverUrl: string;
  readonly fastServerUrl: string;
  stop(): Promise<void>;
}

/** `npm test` runs vitest once for each project, all in one process, which loads this file once. */
let shared: { projects: number; readonly started: Promise<Servers> } | undefined;

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const mine = (shared ??= { projects: 0, started: start() });
  mine.projects++;
  const servers = await mine.started;
  project.provide("serverUrl", servers.serverUrl);
  project.provide("fastServerUrl", servers.fastServerUrl);
  return async () => {
    if (--mine.projects > 0) return;
    shared = undefined;
    await servers.stop();
  };
}

async function start(): Promise<Servers> {
  const folder = mkdtempSync(path.join(tmpdir(), "parley-deployment-"));
  // Inherited by the processes of vitest and by the servers that tests start.
  process.env[DEPLOYMENT_FILE] = path.join(folder, "deployment.json");
  writeFileSync(process.env[DEPLOYMENT_FILE], JSON.stringify(await readDeployment("development")));
  const [server, fast] = await Promise.all([
    startServer({ settings: { LINK_CARDS: "on" } }),
    startServer({ settings: { LINK_CARDS: "on", MESSAGE_RATE: "10000", MESSAGE_BURST: "10000" } }),
  ]);
  return {
    serverUrl: server.url,
    fastServerUrl: fast.url,
    stop: async () => {
      await Promise.all([server.stop(), fast.stop()]);
      // A folder of installed packages takes a while, in which vitest ends its processes.
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
