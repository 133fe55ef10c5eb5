// The entry file of an existing Worker. Called by add-to-worker.ts: it reads what the Worker exports, and adds the export of the classes
// that are missing, where that cannot hurt.
import { readFileSync } from "node:fs";
import path from "node:path";

import { IS_BUILT, readEntry, type Entry } from "../../doctor/entry.ts";
import { declaresOther } from "../../doctor/uses.ts";
import { PACKAGE } from "../version.ts";
import { lineEndOf } from "./config-format.ts";

const IS_SOURCE = /\.[mc]?[jt]sx?$/;

export interface EntryFile {
  /** Its path from the folder of the configuration, with slashes. */
  readonly name: string;
  readonly text: string;
  /** What the Worker exports and uses, from all its files. */
  readonly entry: Entry;
}

/** Without the project's packages, its own text has to do: then `reexported` names files, too. */
export function readEntryFile(folder: string, main: string): EntryFile {
  const file = path.join(folder, main);
  const text = readFileSync(file, "utf8");
  const bundled = readEntry(folder, file);
  const entry = bundled.problem === undefined ? bundled : entryOf(withoutComments(text));
  return { name: main.replaceAll("\\", "/"), text, entry };
}

const STRING_OR_COMMENT = /("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\[^]|[^`\\])*`)|\/\*[^]*?\*\/|\/\/.*/g;

const withoutComments = (text: string): string => text.replaceAll(STRING_OR_COMMENT, "$1");

/** As far as the code says it itself. */
function entryOf(code: string): Entry {
  const all = (pattern: RegExp): string[] => [...code.matchAll(pattern)].map(([, found]) => found!);
  const listed = all(/\bexport\s*\{([^}]*)\}/g).flatMap((list) =>
    list.split(",").map((item) => item.trim().split(/\s+/).at(-1)!),
  );
  return {
    exports: new Set([...listed, ...all(/\bexport\s+(?:default\s+)?(?:abstract\s+)?class\s+(\w+)/g)]),
    reexported: new Set(all(/\bexport\s*\*\s*from\s*["']([^"']+)["']/g)),
    imports: new Set(all(/\bfrom\s*["']([^"']+)["']/g)),
    text: code,
  };
}

/** Of the classes, those that the Worker does not export yet. */
export function missingIn({ entry }: EntryFile, classes: readonly string[], from: string): string[] {
  const hasAll = from === PACKAGE && entry.reexported.has(PACKAGE);
  return hasAll ? [] : classes.filter((name) => !entry.exports.has(name));
}

/** Of the classes, one in whose place the Worker has a class that could not be the package's. */
export function foreignClass({ entry, text }: EntryFile, classes: readonly string[]): string | undefined {
  const code = withoutComments(text);
  return classes.find(
    (name) => declaresOther(code, name) || (entry.exports.has(name) && declaresOther(entry.text, name)),
  );
}

/** Modules all of whose exports are the Worker's, and which may have the classes: an export by name would hide those. */
export const unreadStars = ({ entry }: EntryFile): string[] => [...entry.reexported].filter((name) => name !== PACKAGE);

/** @returns the text with the export of the missing classes; `undefined` where the file is none to write to, or may have any of them */
export function withExport(file: EntryFile, missing: readonly string[], from: string): string | undefined {
  const { name, text } = file;
  const code = withoutComments(text);
  if (!IS_SOURCE.test(name) || IS_BUILT.test(name) || !/^\s*export\b/m.test(code)) return undefined;
  if (unreadStars(file).length > 0) return undefined;
  if (missing.some((each) => new RegExp(`\\b${each}\\b`).test(code))) return undefined;
  const lineEnd = lineEndOf(text);
  return `${text.trimEnd()}${lineEnd}${lineEnd}${exportOf(missing, from)}${lineEnd}`;
}

/** @param from the module that has the classes */
export const exportOf = (classes: readonly string[], from: string): string =>
  `export { ${classes.join(", ")} } from "${from}";`;
