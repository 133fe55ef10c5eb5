// Reads the files of this repository. Called by repository.test.ts and source-files.test.ts.
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";

export const ROOT = join(import.meta.dirname, "..", "..");

/** @param path within the repository */
export const textOf = (path: string): string => readFileSync(join(ROOT, path), "utf8");

/** Source files below a folder, by their path in the repository. */
export const sourcesIn = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.m?[jt]sx?$/.test(entry.name))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)));
