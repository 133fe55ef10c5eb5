// The package socket.io-adapter as a server in an object has it: clients recover from storage. Loaded by scripts/stock-suites.ts in its place,
// so that socket.io's tests of recovery run with ours.
import { randomBytes } from "node:crypto";
import { createRequire } from "node:module";
import path from "node:path";

import { recoverable, type AdapterClass } from "../../../src/stock/recovery-adapter.ts";
import { Recovery } from "../../../src/stock/recovery.ts";
import { Storage } from "../../kit/simulator/storage.ts";

const load = createRequire(path.join(process.cwd(), "package.json"));

/** The package. */
export const { Adapter, ClusterAdapter, ClusterAdapterWithHeartbeat } = load("socket.io-adapter") as Record<
  "Adapter" | "ClusterAdapter" | "ClusterAdapterWithHeartbeat",
  AdapterClass
>;

type Namespace = ConstructorParameters<AdapterClass>[0] & { readonly server: object };

const adapters = new WeakMap<object, AdapterClass>();

/** Each server has a recovery of its own. */
function adapterFor(server: object): AdapterClass {
  let adapter = adapters.get(server);
  if (!adapter) {
    const recovery = new Recovery({ windowMs: 120_000, unnoticedMs: 65_000 });
    recovery.open({
      storage: new Storage(),
      now: () => Date.now(),
      newId: () => randomBytes(15).toString("base64url"),
      report: (problem, error) => console.error(problem, error),
      sweepAt: () => {},
      lookAt: () => {},
      onEmpty: () => {},
    });
    adapter = recoverable(Adapter, recovery);
    adapters.set(server, adapter);
  }
  return adapter;
}

export function SessionAwareAdapter(nsp: Namespace): object {
  return new (adapterFor(nsp.server))(nsp);
}
