// `npm start`: set up if need be, then serve on this machine.
import { runWithPinnedNode } from "./install.mjs";

runWithPinnedNode("dev-server.ts");
