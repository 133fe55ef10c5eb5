// An application's Worker that gets the chat, for the tests of create-parley.
import { parse } from "jsonc-parser";
import { getStaticTOMLValue, parseTOML } from "toml-eslint-parser";

import { addToWorker, type ExistingWish } from "../../../scripts/create-parley/existing/add-to-worker.ts";
import type { Config } from "../../../scripts/create-parley/existing/plan.ts";
import { folderOf, textIn } from "../worker-folder.ts";

export const ENTRY = "export default { fetch: () => new Response() };\n";
export const MANIFEST = '{\n  "name": "mine",\n  "dependencies": {\n    "hono": "^4.0.0"\n  }\n}\n';

export const wish = (folder: string, more: Partial<ExistingWish> = {}): ExistingWish => ({
  folder,
  gets: "chat",
  extras: ["lobby"],
  basePath: "/chat",
  isDryRun: false,
  ...more,
});

export const read = (name: string, text: string): Config =>
  (name.endsWith(".toml")
    ? getStaticTOMLValue(parseTOML(text))
    : parse(text.replace(/^\uFEFF/, ""), [], { allowTrailingComma: true })) as Config;

/** Adds the chat to a Worker with that configuration. */
export function added(name: string, text: string, more: Partial<ExistingWish> = {}) {
  const folder = folderOf({ [name]: text, "package.json": MANIFEST, "src/index.ts": ENTRY });
  const { lines } = addToWorker(wish(folder, more));
  const after = textIn(folder, name);
  return { folder, lines, text: after, config: read(name, after), before: read(name, text) };
}
