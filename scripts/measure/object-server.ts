// Serves one of the Durable Objects that the bench weighs Parley against, in the same runtime. peers.ts starts it.
//   PORT=… node object-server.ts bare-object|class-object|stock-object --state DIR
import path from "node:path";
import { parseArgs } from "node:util";

import { PROJECT_ROOT } from "../local-variables.ts";
import { bundleWorker } from "../serve/bundle.ts";
import { collectGarbageLessOften, startRuntime } from "../serve/runtime.ts";

interface ServedObject {
  readonly file: string;
  readonly className: string;
  readonly entrypoint: string;
}

const ROOMS = "room-objects-worker.js";
const OBJECTS: Readonly<Record<string, ServedObject>> = {
  "bare-object": { file: "bare-object-worker.js", className: "Room", entrypoint: "default" },
  "class-object": { file: ROOMS, className: "ClassRoom", entrypoint: "ClassEntry" },
  "stock-object": { file: ROOMS, className: "StockRoom", entrypoint: "StockEntry" },
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { state: { type: "string", default: ".wrangler/object-server" } },
});
const { file, className, entrypoint } = OBJECTS[positionals[0]!]!;
// As `npm create parley` does.
const none = path.join(PROJECT_ROOT, "scripts", "create-parley", "templates", "engine", "src", "none.cjs");
const address = { host: process.env["HOST"] ?? "127.0.0.1", port: Number(process.env["PORT"]) };
collectGarbageLessOften();
await startRuntime(
  {
    name: "object",
    modules: true,
    script: await bundleWorker(path.join(import.meta.dirname, file), {
      alias: { accepts: none, debug: none, "engine.io": none, ws: none },
      hasNode: true,
    }),
    compatibilityDate: "2026-08-01",
    compatibilityFlags: ["nodejs_compat", "no_web_socket_compression"],
    durableObjects: { ROOM: { className, useSQLite: true } },
  },
  { address, entrypoint, stateDir: values.state },
);
console.log(`Ready on http://${address.host}:${address.port}`);
