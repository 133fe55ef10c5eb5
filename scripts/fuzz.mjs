// `npm run fuzz`: set up if need be, then try inputs that nobody thought of.
import { runWithPinnedNode } from "./install.mjs";

runWithPinnedNode("fuzz.ts");
