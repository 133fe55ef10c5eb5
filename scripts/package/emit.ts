// Emits the library part of the package into dist/lib: JavaScript, declarations and source maps of all entries. Called by build-package.ts,
// and by check-types.ts, because the repository's own applications are compiled against these declarations.
import { execFile } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";

import { PROJECT_ROOT } from "../local-variables.ts";

export const LIBRARY = path.join(PROJECT_ROOT, "dist", "lib");

/** Folders of entries, each with a tsconfig.emit.json, because the types of Worker, browser and Node exclude each other. The last uses the first. */
const ENTRIES = ["src/entries", "client/entries", "test/kit"];

const tsc = path.join(PROJECT_ROOT, "node_modules", ".bin", "tsc");

/**
 * Emits the files that changed since the last time. `npm run check`, which comes before each release, finds wrong types.
 * @throws Error with the compiler's text where a source cannot even be read
 */
export async function emitLibrary(): Promise<void> {
  for (const folder of ENTRIES) {
    // Beside the output, so that both are deleted together.
    const state = path.join(LIBRARY, `${path.dirname(folder)}.tsbuildinfo`);
    const args = [
      "-p",
      path.join(folder, "tsconfig.emit.json"),
      "--outDir",
      LIBRARY,
      "--tsBuildInfoFile",
      state,
      "--noCheck",
      // As in check-types.ts.
      "--checkers",
      "1",
    ];
    await promisify(execFile)(tsc, args, { cwd: PROJECT_ROOT }).catch(({ stdout }: { stdout: string }) => {
      throw new Error(stdout);
    });
  }
  await finishDeclarations();
}

/**
 * tsc rewrites `./x.ts` to `./x.js` in modules, and leaves it in declarations. It also leaves the interfaces of a class whose members it has
 * stripped.
 */
async function finishDeclarations(): Promise<void> {
  const names = await readdir(LIBRARY, { recursive: true });
  const declarations = names.filter((name) => name.endsWith(".d.ts")).map((name) => path.join(LIBRARY, name));
  await Promise.all(
    declarations.map(async (file) => {
      const text = await readFile(file, "utf8");
      const finished = text
        .replaceAll(/((?:from |import\()"\.[^"]+)\.tsx?"/g, '$1.js"')
        .replaceAll(/^(export declare (?:abstract )?class [^{]*) implements [^{]*\{$/gm, "$1 {");
      if (finished !== text) await writeFile(file, finished);
    }),
  );
}
