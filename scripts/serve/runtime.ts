// Runs Workers in workerd for `npm run serve` and the bench: by way of Miniflare, which brings storage, assets and
// restarts after a crash, but with sockets that lead straight into the Worker. Measured, that is as cheap as workerd alone.
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare, type V4WorkerOptions } from "miniflare";

export interface Runtime {
  /** Ends workerd. What it had acknowledged is on the disk. */
  stop(): Promise<void>;
}

export interface Address {
  readonly host: string;
  readonly port: number;
}

/**
 * @param worker reached at `address` by its export `entrypoint`, without a router in between
 * @param stateDir where Durable Objects are kept
 */
export async function startRuntime(
  worker: V4WorkerOptions,
  { address, entrypoint, stateDir }: { address: Address; entrypoint: string; stateDir: string },
): Promise<Runtime> {
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      // Miniflare's own entry, which is unused: unreachable from other machines.
      host: "127.0.0.1",
      port: 0,
      resourcePersistencePath: stateDir,
      log: new Log(LogLevel.WARN),
      logRequests: false,
      // Nothing is looked up over the network.
      cf: false,
      handleStructuredLogs: ({ message }) => console.error(message),
      workers: [{ ...worker, unsafeDirectSockets: [{ ...address, entrypoint }] }],
    }),
  );
  await miniflare.ready;
  return { stop: () => miniflare.dispose() };
}
