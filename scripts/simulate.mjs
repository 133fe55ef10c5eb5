// `npm run simulate`: set up if need be, then let rooms and clients live through thousands of bad days in virtual time.
import { runWithPinnedNode } from "./install.mjs";

runWithPinnedNode("simulate.ts");
