// Builds the command of the package, `parley-rooms`, into dist/bin: one file that runs in any Node. Called by build-package.ts.
import { readFile } from "node:fs/promises";
import path from "node:path";

import { build } from "esbuild";

import { PROJECT_ROOT } from "../local-variables.ts";

const COMMAND = path.join(PROJECT_ROOT, "dist", "bin", "parley-rooms.js");

/** Parts of the file, because only the command needs them, and not the package. */
const BUNDLED = ["acorn", "semver"];

export async function buildCommand(): Promise<void> {
  const manifest = JSON.parse(await readFile(path.join(PROJECT_ROOT, "package.json"), "utf8")) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  const licences = await Promise.all(
    BUNDLED.map(async (name) => {
      const licence = await readFile(path.join(PROJECT_ROOT, "node_modules", name, "LICENSE"), "utf8");
      return `/* ${name}: ${licence.trim()} */`;
    }),
  );
  await build({
    entryPoints: [path.join(PROJECT_ROOT, "scripts", "command", "main.ts")],
    outfile: COMMAND,
    bundle: true,
    minify: true,
    format: "esm",
    platform: "node",
    target: "node20",
    external: Object.keys(manifest.dependencies),
    footer: { js: licences.join("\n") },
    logLevel: "warning",
  });
}
