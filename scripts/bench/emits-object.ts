// Emits to an empty channel, inside a Durable Object. Starts at the first byte on standard input and prints how
// long it took. With --stored each emit goes to the recovery log first, with --relayed it is emitted in another object, too.
//   PORT=… node emits-object.ts COUNT CHARS [--stored | --relayed] --state DIR
import { once } from "node:events";
import path from "node:path";
import { parseArgs } from "node:util";

import { bundleWorker } from "../serve/bundle.ts";
import { startRuntime } from "../serve/runtime.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    state: { type: "string", default: ".wrangler/emits" },
    stored: { type: "boolean", default: false },
    relayed: { type: "boolean", default: false },
  },
});
const [count, chars] = positionals;
const address = { host: process.env["HOST"] ?? "127.0.0.1", port: Number(process.env["PORT"]) };
await startRuntime(
  {
    name: "emits",
    modules: true,
    script: await bundleWorker(path.join(import.meta.dirname, "emits-worker.js")),
    compatibilityDate: "2026-08-01",
    durableObjects: { ROOM: { className: "EmittingRoom", useSQLite: true } },
  },
  { address, entrypoint: "default", stateDir: values.state },
);
console.log("Ready on port");
await once(process.stdin, "data");
// From outside: inside, the clock stands still while code runs.
const startedMs = performance.now();
const query = new URLSearchParams({
  count: count!,
  chars: chars!,
  ...(values.stored && { stored: "yes" }),
  ...(values.relayed && { relayed: "yes" }),
});
const response = await fetch(`http://${address.host}:${address.port}/?${query.toString()}`, { method: "POST" });
if (!response.ok) throw new Error(await response.text());
console.log(`emitted in ${(performance.now() - startedMs) / 1000} s`);
