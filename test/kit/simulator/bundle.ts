// Bundles the module of a simulation with its objects and the stock client for a thread: the platform's modules are replaced, and perhaps a
// bug is planted. Called by ../simulate-in-node.ts.
import { readFile } from "node:fs/promises";
import path from "node:path";

import type { Loader, Plugin } from "esbuild";

const HERE = import.meta.dirname;
/** `.ts` in the repository, `.js` in the package. */
const EXTENSION = path.extname(import.meta.filename);

/** A bug for a simulation to find: one place of a source file, as it is and as it is to be. */
export interface PlantedBug {
  /** The end of the file's path, as `src/notes.ts`. */
  readonly file: string;
  /** Stands there once. */
  readonly find: string;
  readonly replace: string;
}

export interface BundleOptions {
  readonly planted?: readonly PlantedBug[];
  /**
   * Paths of sources whose private fields (`#name`) become plain properties, so that invariants can read them. A file must not have `#name` in
   * a text of its own.
   */
  readonly opened?: RegExp;
  /** Modules to put in the place of others: paths, by the names that imports give. */
  readonly aliases?: Readonly<Record<string, string>>;
}

/** Modules of this folder, by the names that imports give. */
const OWN: Readonly<Record<string, string>> = {
  "simulation:install": "install",
  "simulation:connect": "../../../src/worker/connect/connect",
  "cloudflare:workers": "stand-ins/workers",
  ws: "stand-ins/ws",
  "xmlhttprequest-ssl": "stand-ins/nothing",
};

/** As wrangler does by default. */
const LOADERS: Readonly<Record<string, Loader>> = { ".txt": "text", ".html": "text", ".sql": "text", ".bin": "binary" };

/**
 * @param module the path of a module whose default export is a scenario
 * @returns the text of a CommonJS module
 * @throws Error where esbuild is missing, where a source is not as a planted bug expects, and for errors of esbuild
 */
export async function bundle(
  module: string,
  { planted = [], opened, aliases = {} }: BundleOptions = {},
): Promise<string> {
  const { build } = await import("esbuild").catch((error: unknown) => {
    throw new Error("a simulation is bundled with esbuild, which is not installed: `npm install -D esbuild`", {
      cause: error,
    });
  });
  const found = new Set<PlantedBug>();
  const { outputFiles } = await build({
    entryPoints: [path.join(HERE, `thread${EXTENSION}`)],
    bundle: true,
    write: false,
    format: "cjs",
    platform: "node",
    target: "node22",
    // Of packages that know workerd, the files for it; inside this repository, its sources.
    conditions: ["workerd", "worker", ...(EXTENSION === ".ts" ? ["parley-source"] : [])],
    external: ["esbuild", "cloudflare:test", "vitest"],
    loader: LOADERS,
    logLevel: "silent",
    plugins: [
      replaced({ ...aliases, "simulation:module": module }),
      ...(planted.length > 0 || opened ? [changed({ planted, opened, found })] : []),
    ],
  });
  for (const bug of planted)
    if (!found.has(bug)) throw new Error(`the simulation has no file ${bug.file}, where a bug is to be planted`);
  return outputFiles[0]!.text;
}

function replaced(modules: Readonly<Record<string, string>>): Plugin {
  const paths = new Map(Object.entries(modules));
  for (const [name, file] of Object.entries(OWN)) paths.set(name, path.join(HERE, `${file}${EXTENSION}`));
  const filter = new RegExp(`^(${[...paths.keys()].join("|")})$`);
  return {
    name: "stand-ins",
    setup(builder) {
      // The package says that its modules have no effect when they are loaded, which is not true of install.ts.
      builder.onResolve({ filter }, ({ path: name }) => ({ path: paths.get(name)!, sideEffects: true }));
    },
  };
}

interface Change {
  readonly planted: readonly PlantedBug[];
  readonly opened: RegExp | undefined;
  /** Gets those bugs whose files are there. */
  readonly found: Set<PlantedBug>;
}

function changed({ planted, opened, found }: Change): Plugin {
  return {
    name: "changes",
    setup(builder) {
      builder.onLoad({ filter: /\.[cm]?[jt]sx?$/ }, async ({ path: name }) => {
        const ofFile = planted.filter(({ file }) => name.replaceAll("\\", "/").endsWith(`/${file}`));
        const isOpened = opened?.test(name) === true;
        if (ofFile.length === 0 && !isOpened) return undefined;
        for (const bug of ofFile) found.add(bug);
        const source = withBugs(await readFile(name, "utf8"), ofFile);
        const loader = path.extname(name).replace(/^\.[cm]?/, "") as Loader;
        return { contents: isOpened ? withoutPrivacy(source, name) : source, loader };
      });
    },
  };
}

/** Under a name with that of the file in it: a class may have the same private names as the one that it extends. */
function withoutPrivacy(source: string, name: string): string {
  const file = path.parse(name).name.replaceAll(/\W/g, "_");
  return source.replaceAll(/(?<![\w"'`/&])#(?=[a-z]\w*)/g, `$${file}$`);
}

/** @throws Error where the source is not as the bug expects */
function withBugs(source: string, bugs: readonly PlantedBug[]): string {
  return bugs.reduce((text, { file, find, replace }) => {
    const pieces = text.split(find);
    if (pieces.length !== 2) throw new Error(`${file}: "${find}" stands there ${pieces.length - 1} times, not once`);
    return pieces.join(replace);
  }, source);
}
