// `npm run serve`: set up if need be, then serve the production bundle on this machine.
import { runWithPinnedNode } from "./install.mjs";

runWithPinnedNode("self-host.ts");
