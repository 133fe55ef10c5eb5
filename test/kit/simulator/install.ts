// Replaces the runtime of a thread. Imported by thread.ts before all code under test, which may take functions from the runtime as it loads.
import { parentPort } from "node:worker_threads";

import { fetchOver } from "./client-web-socket.ts";
import { replaceConsole } from "./console.ts";
import { replaceResponses } from "./http.ts";
import { textOf } from "./planned.ts";
import { replaceRuntime } from "./runtime.ts";

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- to a thread, not to a window
replaceRuntime(fetchOver, (error) => parentPort!.postMessage({ error: textOf(error) }));
replaceResponses();
replaceConsole();
