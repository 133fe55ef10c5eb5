// Makes the text of client.d.ts: the declarations that the compiler emits for client/core/client.ts, and all that they name, in one file. So a
// user of client.js needs no other. Called by build-client.ts.
import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";

import { rolldown, type Plugin } from "rolldown";
import { dts } from "rolldown-plugin-dts";

import { PROJECT_ROOT } from "./local-variables.ts";

/** Beside the compiler's other states: nothing that the package has. */
const EMITTED = path.join(PROJECT_ROOT, "node_modules", ".cache", "client-types");

/** The comments that silence the compiler at these annotations get lost, so the annotations go, too. */
const VARIANCE: Plugin = {
  name: "variance",
  transform: (code) => code.replaceAll(/\/\*\* @ts-ignore Cast variance \*\/\s+out /g, ""),
};

export async function clientTypes(): Promise<string> {
  const tsc = path.join(PROJECT_ROOT, "node_modules", ".bin", "tsc");
  const project = path.join(PROJECT_ROOT, "client", "entries", "tsconfig.emit.json");
  const state = path.join(EMITTED, ".tsbuildinfo");
  const args = ["-p", project, "--outDir", EMITTED, "--tsBuildInfoFile", state, "--noEmitOnError", "false"];
  // `npm run check` and the build of the package report wrong types. `npm start` builds a page with some.
  await promisify(execFile)(tsc, args).catch(() => undefined);
  const bundle = await rolldown({
    input: path.join(EMITTED, "client", "core", "client.d.ts"),
    // Of zod it takes types alone; the texts of its errors are in a form that cannot be taken.
    external: /locales/,
    logLevel: "silent",
    plugins: [VARIANCE, dts({ dtsInput: true, emitDtsOnly: true, tsconfig: false })],
  });
  const { output } = await bundle.generate();
  await bundle.close();
  return output[0].code;
}
