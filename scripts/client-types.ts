// Makes the text of client.d.ts: the declarations that the compiler emits for client/core/client.ts, and all that they name, in one file. So a
// user of client.js needs no other. Called by build-client.ts.
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";

import type { Plugin } from "rolldown";

import { digestOf, keepText, keptText } from "./kept-text.ts";
import { PROJECT_ROOT } from "./local-variables.ts";

/** The emitted files find the types of packages from here. Each call has a folder of its own, because builds run side by side. */
const CACHE = path.join(PROJECT_ROOT, "node_modules", ".cache");

const KEPT = "client.d.ts";

/** All that the text depends on: packages by their versions. */
const SOURCES = {
  folders: ["client", "src", "scripts/package"],
  matching: /\.(?:ts|tsx|json)$/,
  files: ["scripts/client-types.ts", "tsconfig.json", "package-lock.json"],
};

/** The comments that silence the compiler at these annotations get lost, so the annotations go, too. */
const VARIANCE: Plugin = {
  name: "variance",
  transform: (code) => code.replaceAll(/\/\*\* @ts-ignore Cast variance \*\/\s+out /g, ""),
};

export async function clientTypes(): Promise<string> {
  const digest = digestOf(SOURCES);
  const kept = keptText(KEPT, digest);
  if (kept !== undefined) return kept;
  mkdirSync(CACHE, { recursive: true });
  const emitted = mkdtempSync(path.join(CACHE, "client-types-"));
  try {
    await emitTo(emitted);
    const text = await flattened(path.join(emitted, "client", "core", "client.d.ts"));
    keepText(KEPT, digest, text);
    return text;
  } finally {
    rmSync(emitted, { recursive: true, force: true });
  }
}

async function emitTo(folder: string): Promise<void> {
  const tsc = path.join(PROJECT_ROOT, "node_modules", ".bin", "tsc");
  const project = path.join(PROJECT_ROOT, "client", "entries", "tsconfig.emit.json");
  const state = path.join(folder, ".tsbuildinfo");
  // `npm run check` reports wrong types. `npm start` builds a page with some.
  const args = ["-p", project, "--outDir", folder, "--tsBuildInfoFile", state, "--noEmitOnError", "false", "--noCheck"];
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
