// `npm run bench`: set up if need be, then measure this project and its peers side by side.
import { runWithPinnedNode } from "./install.mjs";

runWithPinnedNode("measure.ts");
