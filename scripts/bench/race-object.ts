// Serves the typing race of docs/examples by the road of `npm run serve`: in workerd, without `wrangler dev` in front of it.
//   PORT=… WAIT_MS=… TICK_MS=… node race-object.ts --state DIR
import path from "node:path";
import { parseArgs } from "node:util";

import { PROJECT_ROOT } from "../local-variables.ts";
import { bundleWorker } from "../serve/bundle.ts";
import { startRuntime } from "../serve/runtime.ts";

const { values } = parseArgs({ options: { state: { type: "string", default: ".wrangler/race-object" } } });
const address = { host: process.env["HOST"] ?? "127.0.0.1", port: Number(process.env["PORT"]) };
// The package's own name leads nowhere in the example, because it has a package.json.
const alias = { "parley-rooms/socketio": path.join(PROJECT_ROOT, "src", "entries", "socketio.ts") };
await startRuntime(
  {
    name: "typing-race",
    modules: true,
    script: await bundleWorker(path.join(PROJECT_ROOT, "docs", "examples", "typing-race", "index.ts"), alias),
    compatibilityDate: "2026-08-01",
    compatibilityFlags: ["no_web_socket_compression"],
    bindings: { WAIT_MS: process.env["WAIT_MS"]!, TICK_MS: process.env["TICK_MS"]! },
    durableObjects: {
      RACE: { className: "TypingRace", useSQLite: true },
      MATCHMAKER: { className: "Matchmaker", useSQLite: true },
    },
  },
  { address, entrypoint: "default", stateDir: values.state },
);
console.log(`Ready on http://${address.host}:${address.port}`);
