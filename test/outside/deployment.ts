// Runs a deployment in workerd, as a file describes it. Called by servers.ts in the process of the tests, and by server-process.ts in one of its own.
import { readFileSync } from "node:fs";

import type { V4WorkerOptions } from "miniflare";

import { startRuntime, type Runtime, type WriteLine } from "../../scripts/serve/runtime.ts";
import { answerOfWeb } from "./web.ts";

export const HOST = "127.0.0.1";

/** A Worker, the export that requests reach, and Workers beside it that hold its objects. */
type Deployment = V4WorkerOptions & { readonly entrypoint?: string; readonly beside?: readonly V4WorkerOptions[] };

interface Place {
  readonly port: number;
  readonly stateDir: string;
  readonly write?: WriteLine;
}

export function runDeployment(
  file: string,
  settings: Readonly<Record<string, string>>,
  { port, stateDir, write }: Place,
): Promise<Runtime> {
  const { entrypoint = "direct", beside = [], ...given } = JSON.parse(readFileSync(file, "utf8")) as Deployment;
  const withSettings = (options: V4WorkerOptions): V4WorkerOptions => ({
    ...options,
    bindings: { ...options.bindings, ...settings },
  });
  const worker = { ...given, serviceBindings: { ...given.serviceBindings, PUBLIC_WEB: answerOfWeb } };
  const address = { host: HOST, port };
  return startRuntime(
    withSettings(worker),
    { address, entrypoint, stateDir, ...(write && { write }) },
    beside.map(withSettings),
  );
}
