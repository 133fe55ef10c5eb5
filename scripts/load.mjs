// `npm run load`: set up if need be, then put a server under load and hold what arrives against what was posted.
import { runWithPinnedNode } from "./install.mjs";

runWithPinnedNode("load-test.ts");
