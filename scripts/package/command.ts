// Builds commands: each is one file, with its libraries in it, that runs in any Node. Called by build-package.ts for `parley-rooms`, and by
// build-packages.ts for create-parley.
import { appendFile, readdir, readFile } from "node:fs/promises";
import path from "node:path";

import { build, type BuildOptions } from "esbuild";

import { PROJECT_ROOT } from "../local-variables.ts";

/** That of the package: libraries that the package needs as well stay outside. */
export async function buildCommand(): Promise<void> {
  const manifest = JSON.parse(await readFile(path.join(PROJECT_ROOT, "package.json"), "utf8")) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  const outfile = path.join(PROJECT_ROOT, "dist", "bin", "parley-rooms.js");
  await bundleCommand("command/main.ts", outfile, { minify: true, external: Object.keys(manifest.dependencies) });
}

/** @param entry in scripts */
export async function bundleCommand(entry: string, outfile: string, options: BuildOptions = {}): Promise<void> {
  const { metafile } = await build({
    entryPoints: [path.join(PROJECT_ROOT, "scripts", entry)],
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    logLevel: "warning",
    ...options,
    metafile: true,
  });
  const bundled = Object.keys(metafile.inputs).flatMap(
    (file) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? [],
  );
  await appendFile(outfile, await licencesOf([...new Set(bundled)]));
}

/** The licences of packages, as comments. */
async function licencesOf(names: readonly string[]): Promise<string> {
  const licences = names.map(async (name) => {
    const folder = path.join(PROJECT_ROOT, "node_modules", name);
    const file = (await readdir(folder)).find((entry) => /^licen[cs]e/i.test(entry));
    if (file === undefined) throw new Error(`${name} has no file with its licence.`);
    return `/* ${name}: ${(await readFile(path.join(folder, file), "utf8")).trim()} */`;
  });
  return (await Promise.all(licences)).join("\n");
}
