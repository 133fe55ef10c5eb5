// Bundles a Worker of this project to one module that workerd runs as it is.
import { build } from "esbuild";

/** @param alias files in the place of packages. @returns the module's text */
export async function bundleWorker(entryFile: string, alias: Record<string, string> = {}): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [entryFile],
    bundle: true,
    alias,
    minify: true,
    write: false,
    format: "esm",
    target: "es2024",
    conditions: ["parley-source", "workerd", "worker", "browser"],
    external: ["cloudflare:*", "node:*"],
    logLevel: "warning",
  });
  return outputFiles[0]!.text;
}
