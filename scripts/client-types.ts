// Makes the text of client.d.ts: the declarations that the compiler emits for client/core/client.ts, and all that they name, in one file. So a
// user of client.js needs no other. Called by build-client.ts.
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";

import { rolldown, type Plugin } from "rolldown";
import { dts } from "rolldown-plugin-dts";

import { PROJECT_ROOT } from "./local-variables.ts";

/** The emitted files find the types of packages from here. Each call has a folder of its own, because builds run side by side. */
const CACHE = path.join(PROJECT_ROOT, "node_modules", ".cache");

/** The comments that silence the compiler at these annotations get lost, so the annotations go, too. */
const VARIANCE: Plugin = {
  name: "variance",
  transform: (code) => code.replaceAll(/\/\*\* @ts-ignore Cast variance \*\/\s+out /g, ""),
};

export async function clientTypes(): Promise<string> {
  mkdirSync(CACHE, { recursive: true });
  const emitted = mkdtempSync(path.join(CACHE, "client-types-"));
  try {
    await emitTo(emitted);
    return await flattened(path.join(emitted, "client", "core", "client.d.ts"));
  } finally {
    rmSync(emitted, { recursive: true, force: true });
  }
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
