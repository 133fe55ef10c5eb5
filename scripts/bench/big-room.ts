// Serves the project as `npm run serve` does, with shards that the bench can kill. The scenario `big` starts it.
//   PORT=… node big-room.ts --state DIR     settings from the environment
import path from "node:path";
import { parseArgs } from "node:util";

import { serveAlone } from "../serve/self-hosted.ts";

const { values } = parseArgs({ options: { state: { type: "string", default: ".wrangler/big-room" } } });
await serveAlone(values.state, path.join(import.meta.dirname, "big-room-worker.js"));
