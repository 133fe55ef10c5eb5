// Bundles a Worker of this project to one module that workerd runs as it is.
import { build } from "esbuild";

/** @returns the module's text */
export async function bundleWorker(entryFile: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [entryFile],
    bundle: true,
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
