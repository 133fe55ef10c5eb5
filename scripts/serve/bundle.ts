// Bundles a Worker of this project to one module that workerd runs as it is.
import { builtinModules } from "node:module";

import { build } from "esbuild";

/** For packages in CommonJS, which ask for Node's modules while they run. */
const REQUIRE = 'import { createRequire } from "node:module"; const require = createRequire("/");';

/**
 * @param alias files in the place of packages
 * @param hasNode whether it runs with `nodejs_compat`
 * @returns the module's text
 */
export async function bundleWorker(
  entryFile: string,
  { alias = {}, hasNode = false }: { alias?: Record<string, string>; hasNode?: boolean } = {},
): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [entryFile],
    bundle: true,
    alias,
    ...(hasNode && { banner: { js: REQUIRE } }),
    minify: true,
    write: false,
    format: "esm",
    target: "es2024",
    conditions: ["parley-source", "workerd", "worker", "browser"],
    external: ["cloudflare:*", "node:*", ...(hasNode ? builtinModules : [])],
    logLevel: "warning",
  });
  return outputFiles[0]!.text;
}
