// Makes the text of client.d.ts: the declarations that the compiler emits for client/core/client.ts, and all that they name, in one file. So a
// user of client.js needs no other. Called by build-client.ts.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";

import type { Plugin } from "rolldown";

import { PROJECT_ROOT } from "./local-variables.ts";

/** The emitted files find the types of packages from here. Each call has a folder of its own, because builds run side by side. */
const CACHE = path.join(PROJECT_ROOT, "node_modules", ".cache");

/** The last text, after a line with the digest of its sources: most builds follow one with the same sources. */
const LAST = path.join(CACHE, "client.d.ts");

/** All that the text depends on: packages by their versions. */
const SOURCES = ["client", "src", "scripts/package"];
const SINGLE_SOURCES = ["scripts/client-types.ts", "tsconfig.json", "package-lock.json"];
const SOURCE_FILE = /\.(?:ts|tsx|json)$/;

/** The comments that silence the compiler at these annotations get lost, so the annotations go, too. */
const VARIANCE: Plugin = {
  name: "variance",
  transform: (code) => code.replaceAll(/\/\*\* @ts-ignore Cast variance \*\/\s+out /g, ""),
};

export async function clientTypes(): Promise<string> {
  const head = `// ${digestOfSources()}\n`;
  const last = lastText();
  if (last.startsWith(head)) return last.slice(head.length);
  mkdirSync(CACHE, { recursive: true });
  const emitted = mkdtempSync(path.join(CACHE, "client-types-"));
  try {
    await emitTo(emitted);
    const text = await flattened(path.join(emitted, "client", "core", "client.d.ts"));
    const fresh = path.join(emitted, "client.d.ts");
    writeFileSync(fresh, `${head}${text}`);
    renameSync(fresh, LAST);
    return text;
  } finally {
    rmSync(emitted, { recursive: true, force: true });
  }
}

function lastText(): string {
  try {
    return readFileSync(LAST, "utf8");
  } catch {
    return "";
  }
}

function digestOfSources(): string {
  const inFolders = SOURCES.flatMap((folder) =>
    readdirSync(path.join(PROJECT_ROOT, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => SOURCE_FILE.test(name))
      .map((name) => path.join(folder, name))
      .toSorted(),
  );
  const hash = createHash("sha256");
  for (const name of [...inFolders, ...SINGLE_SOURCES]) {
    const contents = readFileSync(path.join(PROJECT_ROOT, name));
    hash.update(`${name} ${contents.length}\n`).update(contents);
  }
  return hash.digest("hex");
}

async function emitTo(folder: string): Promise<void> {
  const tsc = path.join(PROJECT_ROOT, "node_modules", ".bin", "tsc");
  const project = path.join(PROJECT_ROOT, "client", "entries", "tsconfig.emit.json");
  const state = path.join(folder, ".tsbuildinfo");
  const args = ["-p", project, "--outDir", folder, "--tsBuildInfoFile", state, "--noEmitOnError", "false"];
  // `npm run check` and the build of the package report wrong types. `npm start` builds a page with some.
  await promisify(execFile)(tsc, args).catch(() => undefined);
}

async function flattened(input: string): Promise<string> {
  // Loaded here, because most builds need neither.
  const [{ rolldown }, { dts }] = await Promise.all([import("rolldown"), import("rolldown-plugin-dts")]);
  const bundle = await rolldown({
    input,
    // Of zod it takes types alone; the texts of its errors are in a form that cannot be taken.
    external: /locales/,
    logLevel: "silent",
    plugins: [VARIANCE, dts({ dtsInput: true, emitDtsOnly: true, tsconfig: false })],
  });
  const { output } = await bundle.generate();
  await bundle.close();
  return output[0].code;
}
