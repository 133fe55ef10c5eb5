// Bundles tests of objects with all that they import, for vitest.config.ts: to fetch a module by itself takes workerd longer than to run it. A file
// that cannot be bundled fails all tests of its project.
import { globSync } from "node:fs";
import path from "node:path";

import { rolldown, type OutputChunk } from "rolldown";
import type { Plugin } from "vitest/config";

const ROOT = path.resolve(import.meta.dirname, "../..");
/** Chunks that are no file: all that several files import, and rolldown's own. */
const SHARED = /^\.\/(?:shared|rolldown-runtime)\.js$/;
const SHARED_FOLDER = path.join(ROOT, "node_modules", ".cache", "one-module");
const OF_OTHERS = /^(?:cloudflare|node):|^vitest$|\?raw$/;

/** @param patterns of all files that vitest imports: the Worker, set-ups, tests */
export function oneModule(...patterns: string[]): Plugin {
  const files = patterns.flatMap((pattern) => globSync(pattern, { cwd: ROOT }));
  let bundled: Promise<Map<string, OutputChunk>> | undefined;
  return {
    name: "one-module",
    enforce: "pre",
    // `vitest --watch` runs a test file again that has changed: with all else as it is by then.
    configureVitest({ vitest, project }) {
      vitest.vite.watcher.on("change", () => {
        bundled = undefined;
        project.vite.environments.ssr.moduleGraph.invalidateAll();
      });
    },
    resolveId: (id) => (SHARED.test(id) ? path.join(SHARED_FOLDER, id) : undefined),
    async load(id) {
      bundled ??= bundle(files.map((file) => path.join(ROOT, file)));
      const chunk = (await bundled).get(id);
      return chunk && { code: chunk.code, map: chunk.map?.toString() ?? null };
    },
  };
}

/** @returns by the path of the file, or of the shared chunk */
async function bundle(entries: string[]): Promise<Map<string, OutputChunk>> {
  const build = await rolldown({
    input: entries,
    cwd: ROOT,
    external: OF_OTHERS,
    // That of the examples leads to the built package.
    tsconfig: false,
    resolve: {
      conditionNames: ["parley-source", "workerd", "worker", "browser", "module", "import"],
      // For docs/examples/typing-race, whose package.json ends the reach of the package's own name.
      alias: { "parley-rooms/socketio": path.join(ROOT, "src/entries/socketio.ts") },
    },
  });
  const { output } = await build.generate({
    codeSplitting: { groups: [{ name: "shared", test: (id) => !entries.includes(id) }] },
    chunkFileNames: "[name].js",
    sourcemap: true,
    sourcemapPathTransform: (source, map) => path.resolve(path.dirname(map), source),
    // Logs have the names of classes of errors.
    keepNames: true,
  });
  const chunks = output.filter((one) => one.type === "chunk");
  return new Map(chunks.map((chunk) => [chunk.facadeModuleId ?? path.join(SHARED_FOLDER, chunk.fileName), chunk]));
}
