// The entry file of a Worker: its exports, and its imports of the package. Called by facts.ts, and by create-parley. The project's own
// esbuild, which comes with Wrangler, bundles the Worker's files without its packages, because exports may come from any of them.
import { createRequire } from "node:module";
import path from "node:path";

export interface Entry {
  /** Why it could not be read; all else is empty then. */
  readonly problem?: string;
  readonly exports: ReadonlySet<string>;
  /** Packages all of whose exports are the Worker's (`export * from`). */
  readonly reexported: ReadonlySet<string>;
  /** Packages and their entries that it imports. */
  readonly imports: ReadonlySet<string>;
  /** The Worker's own code, without comments. */
  readonly text: string;
}

interface Esbuild {
  buildSync(options: Readonly<Record<string, unknown>>): {
    readonly outputFiles: ReadonlyArray<{ readonly text: string }>;
    readonly metafile: { readonly outputs: Readonly<Record<string, Output>> };
  };
}

interface Output {
  readonly exports: readonly string[];
  readonly imports: ReadonlyArray<{ readonly path: string; readonly external?: boolean }>;
}

/** Paths in folders whose files a build writes. */
export const IS_BUILT = /(^|\/)(\.[^./][^/]*|node_modules|dist|build|out)\//;

/** Files that Wrangler takes as modules, and esbuild does not know. */
const LOADERS = {
  ".wasm": "empty",
  ".bin": "empty",
  ".html": "empty",
  ".txt": "empty",
  ".sql": "empty",
  ".css": "empty",
};

/** @param main its path, absolute or from the folder */
export function readEntry(folder: string, main: string | undefined): Entry {
  if (main === undefined) return unread("The configuration has no `main`.");
  try {
    const bundled = esbuildOf(folder).buildSync({
      entryPoints: [main],
      absWorkingDir: folder,
      bundle: true,
      format: "esm",
      platform: "neutral",
      packages: "external",
      external: ["cloudflare:*", "node:*"],
      loader: LOADERS,
      legalComments: "none",
      metafile: true,
      write: false,
      logLevel: "silent",
    });
    const [output] = Object.values(bundled.metafile.outputs) as [Output];
    const text = bundled.outputFiles.map((file) => file.text).join("\n");
    return {
      exports: new Set(output.exports),
      reexported: new Set([...text.matchAll(/^export \* from "([^"]+)";$/gm)].map(([, name]) => name!)),
      imports: new Set(output.imports.map(({ path: name }) => name)),
      text,
    };
  } catch (error) {
    const [reason] = (error as Error).message.trim().split("\n").slice(-1);
    return unread(`${path.relative(folder, main)} cannot be read: ${reason ?? ""}`);
  }
}

function esbuildOf(folder: string): Esbuild {
  const wrangler = createRequire(path.join(folder, "package.json")).resolve("wrangler/package.json");
  return createRequire(wrangler)("esbuild") as Esbuild;
}

const unread = (problem: string): Entry => ({
  problem,
  exports: new Set(),
  reexported: new Set(),
  imports: new Set(),
  text: "",
});
