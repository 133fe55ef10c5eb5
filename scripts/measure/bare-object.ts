// Serves the bare Durable Object that the bench weighs Parley against, in the same runtime. peers.ts starts it.
//   PORT=… node bare-object.ts --state DIR
import path from "node:path";
import { parseArgs } from "node:util";

import { startRuntime } from "../serve/runtime.ts";

const { values } = parseArgs({ options: { state: { type: "string", default: ".wrangler/bare-object" } } });
const address = { host: process.env["HOST"] ?? "127.0.0.1", port: Number(process.env["PORT"]) };
await startRuntime(
  {
    name: "bare-object",
    modules: true,
    scriptPath: path.join(import.meta.dirname, "bare-object-worker.js"),
    modulesRoot: import.meta.dirname,
    compatibilityDate: "2026-08-01",
    compatibilityFlags: ["no_web_socket_compression"],
    durableObjects: { ROOM: { className: "Room", useSQLite: true } },
  },
  { address, entrypoint: "default", stateDir: values.state },
);
console.log(`Ready on http://${address.host}:${address.port}`);
