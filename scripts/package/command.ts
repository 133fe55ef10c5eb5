// Builds the command of the package, `parley-rooms`, into dist/bin: one file that runs in any Node. Called by build-package.ts.
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";

import { build } from "esbuild";

import { PROJECT_ROOT } from "../local-variables.ts";

const COMMAND = path.join(PROJECT_ROOT, "dist", "bin", "parley-rooms.js");

/** Parts of the file, because only the command needs them, and not the package. */
const BUNDLED = ["semver"];

export async function buildCommand(): Promise<void> {
  const manifest = JSON.parse(await readFile(path.join(PROJECT_ROOT, "package.json"), "utf8")) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  await build({
    entryPoints: [path.join(PROJECT_ROOT, "scripts", "command", "main.ts")],
    outfile: COMMAND,
    bundle: true,
    minify: true,
    format: "esm",
    platform: "node",
    target: "node20",
    external: Object.keys(manifest.dependencies),
    footer: { js: await licencesOf(BUNDLED) },
    logLevel: "warning",
  });
}

/** The licences of packages that a file has in it, as comments for its end. Called by build-packages.ts, too. */
export async function licencesOf(names: readonly string[]): Promise<string> {
  const licences = names.map(async (name) => {
    const folder = path.join(PROJECT_ROOT, "node_modules", name);
    const file = (await readdir(folder)).find((entry) => /^licen[cs]e/i.test(entry));
    if (file === undefined) throw new Error(`${name} has no file with its licence.`);
    return `/* ${name}: ${(await readFile(path.join(folder, file), "utf8")).trim()} */`;
  });
  return (await Promise.all(licences)).join("\n");
}
