// The page in dist/client, and all else that browsers load: what it is made of, and whether it is there. Called by build-client.ts and
// serve/self-hosted.ts.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

import { digestOf } from "./kept-text.ts";
import { PROJECT_ROOT } from "./local-variables.ts";

const PAGE = "dist/client";

/** All that the page is made of: packages by their versions. */
export const PAGE_SOURCES = {
  folders: ["client", "src", "scripts/package"],
  files: [
    "scripts/build-client.ts",
    "scripts/client-types.ts",
    "scripts/emoji-data.ts",
    "package.json",
    "package-lock.json",
    "tsconfig.json",
  ],
};

/** Of the page's files. Another build may have left those of other sources, or removes files just now. */
export function digestOfPage(): string | undefined {
  try {
    return digestOf({ folders: [PAGE] });
  } catch {
    return undefined;
  }
}

/** The digests of the sources and of the page, beside it. */
export const NOTE = path.join(PROJECT_ROOT, `${PAGE}.built`);

/** Whether the page is there, and made of sources with that digest. */
export function isBuilt(sources: string): boolean {
  try {
    return readFileSync(NOTE, "utf8") === `${sources} ${digestOf({ folders: [PAGE] })}`;
  } catch {
    return false;
  }
}

export function noteBuilt(sources: string): void {
  writeFileSync(NOTE, `${sources} ${digestOfPage()}`);
}
