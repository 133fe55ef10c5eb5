// `npm test`: set up if need be, then check and test everything.
import { runWithPinnedNode } from "./install.mjs";

runWithPinnedNode("run-tests.ts");
