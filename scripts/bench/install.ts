// The peers of the bench, in a folder of their own.
import path from "node:path";

import { installPinned } from "../measuring/install-pinned.ts";

/** @param target where they go, with the scripts that start them */
export function installPeers(target: string): Promise<void> {
  return installPinned({ source: path.join(import.meta.dirname, "peers"), target, what: "the peers" });
}
