// Bundles applications of the package as a bundler makes them of its sources. Called by the tests of entries.
import { builtinModules } from "node:module";
import path from "node:path";
import { gzipSync } from "node:zlib";

import { build } from "esbuild";

export const ROOT = path.join(import.meta.dirname, "..", "..");

export interface Bundle {
  readonly text: string;
  /** Bytes, compressed. */
  readonly size: number;
  /** The packages that have a part in it. */
  readonly packages: readonly string[];
}

/**
 * @param applications the texts of their entry files, by name: one build reads what they share once
 * @param alias files in the place of packages
 */
export async function bundlesOf<Name extends string>(
  applications: Readonly<Record<Name, string>>,
  alias: Record<string, string> = {},
): Promise<Record<Name, Bundle>> {
  const names = Object.keys(applications) as Name[];
  const { outputFiles, metafile } = await build({
    entryPoints: names.map((name, at) => ({ in: `application:${name}`, out: String(at) })),
    plugins: [
      {
        name: "applications",
        setup(plugin) {
          plugin.onResolve({ filter: /^application:/ }, (asked) => {
            return { path: asked.path.slice("application:".length), namespace: "applications" };
          });
          plugin.onLoad({ filter: /^/, namespace: "applications" }, ({ path: name }) => {
            return { contents: applications[name as Name], resolveDir: ROOT, loader: "ts" };
          });
        },
      },
    ],
    outdir: ROOT,
    absWorkingDir: ROOT,
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: "esm",
    target: "es2024",
    conditions: ["parley-source", "workerd", "worker", "browser"],
    external: ["cloudflare:*", "node:*", ...builtinModules, "react"],
    alias,
  });
  const bundles = names.map((name, at): [Name, Bundle] => {
    const { contents, text } = outputFiles.find((file) => file.path === path.join(ROOT, `${at}.js`))!;
    const packages = Object.entries(metafile.outputs[`${at}.js`]!.inputs)
      .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
      .flatMap(([file]) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? []);
    return [name, { text, size: gzipSync(contents).length, packages: [...new Set(packages)].toSorted() }];
  });
  return Object.fromEntries(bundles) as Record<Name, Bundle>;
}
