// Closes the sockets and proxies that a file of tests has opened: files share processes and modules. Run by vitest before each file
// of the project "outside".
import { afterAll } from "vitest";

import { closeLines } from "./line.ts";
import { closeSockets } from "./stock-clients.ts";

afterAll(() => {
  closeSockets();
  closeLines();
});
