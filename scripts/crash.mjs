// `npm run crash`: set up if need be, then kill a server again and again and look at what is left.
import { runWithPinnedNode } from "./install.mjs";

runWithPinnedNode("crash.ts");
