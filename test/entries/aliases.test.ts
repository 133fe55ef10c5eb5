// A clone: src/index.ts imports the package by its name, and Wrangler bundles the sources. wrangler.toml has an alias for each entry.
import { readFileSync } from "node:fs";
import path from "node:path";

import { build } from "esbuild";
import { expect, it } from "vitest";

const ROOT = path.join(import.meta.dirname, "..", "..");

const textOf = (file: string): string => readFileSync(path.join(ROOT, file), "utf8");

/** Of pages and of tests. */
const NOT_OF_WORKERS = new Set(["./client", "./react", "./testing", "./testing/simulation", "./package.json"]);

/** With the sources of each. */
const { exports } = JSON.parse(textOf("package.json")) as {
  readonly exports: Readonly<Record<string, { readonly "parley-source": string }>>;
};
const entries = Object.entries(exports).filter(([entry]) => !NOT_OF_WORKERS.has(entry));

/** As wrangler.toml has them. */
const alias = Object.fromEntries(
  [...textOf("wrangler.toml").matchAll(/^"(parley-rooms[^"]*)" = "(.+)"$/gm)].map(([, name, file]) => [name!, file!]),
);

it("the Worker of a clone may import each of them", async () => {
  const names = entries.map(([entry]) => path.posix.join("parley-rooms", entry));
  const { metafile } = await build({
    stdin: { contents: names.map((name) => `import "${name}";`).join("\n"), resolveDir: ROOT, loader: "ts" },
    absWorkingDir: ROOT,
    bundle: true,
    write: false,
    metafile: true,
    format: "esm",
    alias,
    // As Wrangler, which does not know the condition of the sources.
    conditions: ["workerd", "worker", "browser"],
    packages: "external",
    logLevel: "silent",
  });
  const imported = metafile.inputs["<stdin>"]!.imports.map(({ original, path: file }) => [original, file]);
  expect(imported).toEqual(
    entries.map(([, { "parley-source": source }], at) => [names[at], path.posix.normalize(source)]),
  );
});
