// Tests of kept-text.ts, the build cache of client.d.ts and `npm run serve`: it returns a built text only while its sources are unchanged.
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { expect, it, onTestFinished } from "vitest";

import { PAGE_SOURCES } from "../../scripts/built-page.ts";
import { digestOf, keepText, keptText } from "../../scripts/kept-text.ts";
import { ROOT } from "../host/repository.ts";

it("a text is kept until a source has other contents or another name, comes or goes", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "parley-sources-"));
  const name = path.basename(folder);
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
    rmSync(path.join(ROOT, "node_modules", ".cache", name), { force: true });
  });
  mkdirSync(path.join(folder, "part"));
  const source = (file: string): string => path.join(folder, "part", file);
  const digest = (): string => digestOf({ folders: [path.relative(ROOT, folder)], matching: /\.ts$/ });
  const changes = [
    () => writeFileSync(source("a.ts"), "one"),
    () => writeFileSync(source("a.ts"), "two"),
    () => renameSync(source("a.ts"), source("b.ts")),
    () => writeFileSync(source("c.ts"), ""),
    () => rmSync(source("b.ts")),
  ];
  for (const [at, change] of changes.entries()) {
    change();
    expect(keptText(name, digest())).toBeUndefined();
    keepText(name, digest(), `text ${at}\n`);
    writeFileSync(source("notes.md"), `of no matter: ${at}`);
    expect(keptText(name, digest())).toBe(`text ${at}\n`);
  }
});

it("the page is built again when a script that makes a part of it changes", () => {
  const builder = readFileSync(path.join(ROOT, "scripts", "build-client.ts"), "utf8");
  const imported = [...builder.matchAll(/ from "\.\/([^"]+)"/g)].map(([, name]) => `scripts/${name}`);
  expect(imported).toContain("scripts/client-types.ts");
  // They read the arguments of `npm run build`, and find what was built.
  const others = new Set(["scripts/options.ts", "scripts/built-page.ts", "scripts/kept-text.ts"]);
  const makers = imported.filter((name) => !others.has(name));
  expect(PAGE_SOURCES.files).toEqual(expect.arrayContaining(makers));
});
