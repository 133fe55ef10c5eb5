// Texts that take long to make, kept after a line with the digest of what they are made of: most builds follow one of the same sources. Called by
// client-types.ts and serve/self-hosted.ts; the digest also by build-client.ts and built-page.ts.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";

import { PROJECT_ROOT } from "./local-variables.ts";

const CACHE = path.join(PROJECT_ROOT, "node_modules", ".cache");

interface Sources {
  readonly folders: readonly string[];
  /** Of their files; by default all. */
  readonly matching?: RegExp;
  readonly files?: readonly string[];
}

/** Of the names and the contents. */
export function digestOf({ folders, matching = /./, files = [] }: Sources): string {
  const inFolders = folders.flatMap((folder) =>
    readdirSync(path.join(PROJECT_ROOT, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && matching.test(entry.name))
      .map(({ parentPath, name }) => path.relative(PROJECT_ROOT, path.join(parentPath, name)))
      .toSorted(),
  );
  const hash = createHash("sha256");
  for (const name of [...inFolders, ...files]) {
    const contents = readFileSync(path.join(PROJECT_ROOT, name));
    hash.update(`${name} ${contents.length}\n`).update(contents);
  }
  return hash.digest("hex");
}

/** The text of that name, if its sources had the same digest. */
export function keptText(name: string, digest: string): string | undefined {
  const head = `${digest}\n`;
  try {
    const last = readFileSync(path.join(CACHE, name), "utf8");
    return last.startsWith(head) ? last.slice(head.length) : undefined;
  } catch {
    return undefined;
  }
}

export function keepText(name: string, digest: string, text: string): void {
  mkdirSync(CACHE, { recursive: true });
  // Builds run side by side.
  const fresh = path.join(CACHE, `${name}.${process.pid}`);
  writeFileSync(fresh, `${digest}\n${text}`);
  renameSync(fresh, path.join(CACHE, name));
}
