// Bundles the simulator with the product and the stock client into one module for a thread, with the platform's parts
// replaced, and perhaps with a bug planted.
import { readFile } from "node:fs/promises";
import path from "node:path";

import { build, type Plugin } from "esbuild";

const HERE = import.meta.dirname;
const ROOT = path.join(HERE, "../..");

const PRODUCT = new RegExp(`^${RegExp.escape(ROOT)}/(src|durable|client)/[^.]*\\.ts$`);

/** One place of the source, as it is and as it is to be. */
export interface Edit {
  /** From the root of the repository. */
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

/** Tokens of a simulation are unsigned claims. */
const PLAIN_TOKENS: Edit = {
  file: "src/settings/tokens/tokens.ts",
  find: "if (token.length > TOKEN_LENGTH_MAX)",
  replace: `const claims = JSON.parse(token) as Identity;
    if (claims.exp! * 1000 <= Date.now()) return { ok: false, code: "TOKEN_EXPIRED", message: "The token has expired" };
    if (claims) return { ok: true, identity: claims };
    if (token.length > TOKEN_LENGTH_MAX)`,
};

const STAND_INS: Readonly<Record<string, string>> = {
  "cloudflare:workers": "workers.ts",
  ws: "ws.ts",
  "xmlhttprequest-ssl": "nothing.ts",
  "product:objects": "objects.ts",
};

export async function bundle(planted?: Edit): Promise<string> {
  const edits = [PLAIN_TOKENS, ...(planted ? [planted] : [])];
  const { outputFiles } = await build({
    entryPoints: [path.join(HERE, "worker.ts")],
    bundle: true,
    write: false,
    format: "cjs",
    platform: "node",
    target: "node24",
    conditions: ["default"],
    logLevel: "error",
    plugins: [standIns(), readProduct(edits)],
  });
  return outputFiles[0]!.text;
}

function standIns(): Plugin {
  const filter = new RegExp(`^(${Object.keys(STAND_INS).join("|")})$`);
  return {
    name: "stand-ins",
    setup(builder) {
      builder.onResolve({ filter }, ({ path: name }) => ({ path: path.join(HERE, "stand-ins", STAND_INS[name]!) }));
    },
  };
}

/** Loads the product with the edits. Private fields become plain properties, so that the checks can read them. */
function readProduct(edits: readonly Edit[]): Plugin {
  for (const { file } of edits)
    if (!PRODUCT.test(path.join(ROOT, file))) throw new Error(`${file} is not the product's`);
  return {
    name: "product",
    setup(builder) {
      builder.onLoad({ filter: PRODUCT }, async ({ path: name }) => {
        const ofFile = edits.filter(({ file }) => file === path.relative(ROOT, name));
        return { contents: opened(applied(await readFile(name, "utf8"), ofFile), name), loader: "ts" };
      });
    },
  };
}

/** Under a name with that of the file in it: a class may have the same private names as the one that it extends. */
function opened(source: string, name: string): string {
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
