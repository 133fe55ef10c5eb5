// Closes the sockets and proxies that a file of tests has opened: files share processes and modules. And `fetch` uses no connection again that has
// rested: on a slow machine its server may be closing it. Run by vitest before each file of the project "outside".
import { Agent, setGlobalDispatcher } from "undici";
import { afterAll } from "vitest";

import { closeLines } from "./line.ts";
import { closeSockets } from "./stock-clients.ts";

setGlobalDispatcher(new Agent({ keepAliveTimeout: 1, keepAliveMaxTimeout: 1 }));

afterAll(() => {
  closeSockets();
  closeLines();
});
