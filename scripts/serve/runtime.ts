// Runs Workers in workerd: by way of Miniflare, which brings storage, assets and restarts after a crash, but with sockets that lead straight
// into the Worker. Measured, that is as cheap as workerd alone. Called by self-hosted.ts for `npm run serve` and the bench, and by
// measure/object-server.ts, keep-release.ts and the servers of tests (test/outside/deployment.ts).
import { availableParallelism } from "node:os";

import { convertV4MiniflareOptions, Miniflare, type V4WorkerOptions } from "miniflare";

import { RuntimeLog, writeRuntimeLine } from "./runtime-log.ts";

/** A larger young generation: V8 collects garbage less often, so fewer messages wait for that (docs/load.md). Takes some 50 MB more. */
const LARGE_YOUNG = "--semi-space-growth-factor=4 --min-semi-space-size=32 --max-semi-space-size=64";
/** V8's helpers would take the only core from the thread that serves, for longer than its pause alone. */
const WITHOUT_HELPERS = "--single-threaded-gc";
const V8_FLAGS = availableParallelism() > 1 ? LARGE_YOUNG : `${LARGE_YOUNG} ${WITHOUT_HELPERS}`;

/** Called by programs that only serve: it concerns every workerd that this process and its children start from now on. */
export function collectGarbageLessOften(): void {
  process.env["MINIFLARE_WORKERD_V8_FLAGS"] ??= V8_FLAGS;
}

/**
 * At the compatibility date of the environment, where it has one: for another workerd, whose program `MINIFLARE_WORKERD_PATH` names
 * (`npm test -- --workerd newest`, and the bench).
 */
function dated(worker: V4WorkerOptions): V4WorkerOptions {
  const { COMPATIBILITY_DATE: compatibilityDate = worker.compatibilityDate } = process.env;
  return { ...worker, ...(compatibilityDate !== undefined && { compatibilityDate }) };
}

export interface Runtime {
  /** Ends workerd. Acked messages are on the disk. */
  stop(): Promise<void>;
}

export type WriteLine = typeof writeRuntimeLine;

export interface Address {
  readonly host: string;
  readonly port: number;
}

/**
 * @param worker reached at `address` by its export `entrypoint`, without a router in between
 * @param stateDir where Durable Objects are kept
 * @param write for the lines of the log; by itself they go to stderr
 * @param beside Workers that it has bindings to
 */
export async function startRuntime(
  worker: V4WorkerOptions,
  {
    address,
    entrypoint,
    stateDir,
    write = writeRuntimeLine,
  }: { address: Address; entrypoint: string; stateDir: string; write?: WriteLine },
  beside: readonly V4WorkerOptions[] = [],
): Promise<Runtime> {
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      // Miniflare's own entry, which is unused: unreachable from other machines.
      host: "127.0.0.1",
      port: 0,
      resourcePersistencePath: stateDir,
      log: new RuntimeLog(write),
      logRequests: false,
      // Nothing is looked up over the network.
      cf: false,
      handleStructuredLogs: write,
      workers: [{ ...worker, unsafeDirectSockets: [{ ...address, entrypoint }] }, ...beside].map(dated),
    }),
  );
  await miniflare.ready;
  return { stop: () => miniflare.dispose() };
}
