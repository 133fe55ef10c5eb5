// Bundles a simulation with its objects and the stock client into one module for a thread: the platform's modules are replaced, and perhaps
// a bug is planted. Called by whoever starts a thread (threads.ts).
import { readFile } from "node:fs/promises";
import path from "node:path";

import { build, type Plugin } from "esbuild";

const HERE = import.meta.dirname;

/** One place of a source, as it is and as it is to be. */
export interface Edit {
  /** From the `root` of the bundle. */
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

export interface BundleOptions {
  /** The module that the thread runs. */
  readonly entry: string;
  /** The folder from which edits name their files. */
  readonly root: string;
  /** Sources that may be edited, and whose private fields become plain properties, so that checks can read them. */
  readonly opened: RegExp;
  readonly edits?: readonly Edit[];
  /** Modules to put in the place of others, by the name that imports give. */
  readonly replaced?: Readonly<Record<string, string>>;
}

const STAND_INS: Readonly<Record<string, string>> = {
  "cloudflare:workers": "workers.ts",
  ws: "ws.ts",
  "xmlhttprequest-ssl": "nothing.ts",
};

export async function bundle({ entry, root, opened, edits = [], replaced = {} }: BundleOptions): Promise<string> {
  const standIns = Object.entries(STAND_INS).map(([name, file]) => [name, path.join(HERE, "stand-ins", file)] as const);
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    format: "cjs",
    platform: "node",
    target: "node24",
    conditions: ["parley-source", "default"],
    logLevel: "error",
    plugins: [replace({ ...Object.fromEntries(standIns), ...replaced }), open({ root, opened, edits })],
  });
  return outputFiles[0]!.text;
}

function replace(modules: Readonly<Record<string, string>>): Plugin {
  const filter = new RegExp(`^(${Object.keys(modules).join("|")})$`);
  return {
    name: "stand-ins",
    setup(builder) {
      builder.onResolve({ filter }, ({ path: name }) => ({ path: modules[name]! }));
    },
  };
}

/** Loads sources with the edits. Their private fields become plain properties. */
function open({ root, opened, edits }: Required<Pick<BundleOptions, "root" | "opened" | "edits">>): Plugin {
  for (const { file } of edits)
    if (!opened.test(path.join(root, file))) throw new Error(`${file} is not among the sources that may be edited`);
  return {
    name: "sources",
    setup(builder) {
      builder.onLoad({ filter: opened }, async ({ path: name }) => {
        const ofFile = edits.filter(({ file }) => file === path.relative(root, name));
        return { contents: withoutPrivacy(applied(await readFile(name, "utf8"), ofFile), name), loader: "ts" };
      });
    },
  };
}

/** Under a name with that of the file in it: a class may have the same private names as the one that it extends. */
function withoutPrivacy(source: string, name: string): string {
  const file = path.basename(name, ".ts").replaceAll("-", "_");
  return source.replaceAll(/(?<![\w"'`/&])#(?=[a-z]\w*)/g, `$${file}$`);
}

/** @throws Error where the source is not as the edit expects */
function applied(source: string, edits: readonly Edit[]): string {
  return edits.reduce((text, { file, find, replace }) => {
    const pieces = text.split(find);
    if (pieces.length !== 2) throw new Error(`${file}: "${find}" stands there ${pieces.length - 1} times, not once`);
    return pieces.join(replace);
  }, source);
}
