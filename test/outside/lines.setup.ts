// Closes the sockets and proxies that a file of tests has opened: files share processes and modules. And `fetch` uses no connection again that has
// rested: on a slow machine its server may be closing it. `vi.waitFor` looks ever less often. Run by vitest before each file of the projects
// "outside" and "browser".
import { setTimeout } from "node:timers/promises";

import { Agent, setGlobalDispatcher } from "undici";
import { afterAll, vi } from "vitest";

import { PATIENCE_MS } from "../host/patience.ts";
import { closeLines } from "./line.ts";
import { closeSockets } from "./stock-clients.ts";

setGlobalDispatcher(new Agent({ keepAliveTimeout: 1, keepAliveMaxTimeout: 1 }));

/** Until the second look, unless the test says how long. Most of what tests wait for is there soon. */
const FIRST_PAUSE_MS = 20;
/** Each look asks a page or a server: those who wait long look no more often. */
const PAUSE_MS_MAX = 250;

vi.waitFor = async (look, options = {}) => {
  const { interval = FIRST_PAUSE_MS, timeout = PATIENCE_MS } =
    typeof options === "number" ? { timeout: options } : options;
  const end = performance.now() + timeout;
  for (let pause = interval; ; pause = Math.max(pause, Math.min(pause * 1.5, PAUSE_MS_MAX))) {
    try {
      return await look();
    } catch (error) {
      if (performance.now() > end) throw error;
    }
    await setTimeout(pause);
  }
};

afterAll(() => {
  closeSockets();
  closeLines();
});
