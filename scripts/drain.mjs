// `npm run drain`: set up if need be, then send thousands away from a server and watch them come back.
import { runWithPinnedNode } from "./install.mjs";

runWithPinnedNode("drain.ts");
