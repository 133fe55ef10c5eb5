// The package as a user installs it: from the tarball and the registry alone, in a folder of its own.
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";

import { beforeAll, describe, expect, it } from "vitest";

import { consumer, type Consumer } from "./consumer.ts";

/** Declarations with an `any`, each of which says why in its source. */
const WITH_ANY = [
  "src/socketio/object/object-namespace.d.ts",
  ...["checked", "events", "namespace", "socket"].map((name) => `src/socketio/server/${name}.d.ts`),
  "src/socketio/wire/client-types.d.ts",
  "test/kit/simulator/object-host.d.ts",
  "test/wire/wire-client.d.ts",
];

/** Each further checker of the compiler would work out the types of the platform anew. */
const ONE_CHECKER = ["--checkers", "1"];

let somebody: Consumer;

beforeAll(async () => {
  somebody = await consumer();
});

describe("the tarball", () => {
  const installed = (...names: string[]): string =>
    path.join(somebody.folder, "node_modules", "parley-rooms", ...names);

  const filesOf = (folder: string): string[] =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.parentPath.includes(path.join(folder, "node_modules")))
      .map(({ parentPath, name }) => path.join(parentPath, name));

  it("has the library, the pages and the documents, and nothing that the repository alone needs", () => {
    const names = readdirSync(installed()).filter((name) => name !== "node_modules");
    expect(names.toSorted()).toEqual(
      [
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "LICENSE",
        "README.md",
        "SECURITY.md",
        "client",
        "dist",
        "docs",
        "durable",
        "package.json",
        "scripts",
        "src",
        "test",
      ].toSorted(),
    );
    expect(readdirSync(installed("dist")).toSorted()).toEqual(["bin", "client", "lib"]);
    for (const page of ["index.html", "admin.html", "embed.js", "client.js", "client.d.ts"])
      expect(readdirSync(installed("dist", "client"))).toContain(page);
    const documents = readdirSync(installed("docs"));
    expect(documents).toContain("in-your-worker.md");
    expect(documents.filter((name) => !name.endsWith(".md"))).toEqual(["bench", "decisions", "examples"]);
    expect(readdirSync(installed("scripts"))).toEqual(["ops"]);
  });

  it("has what its documents link to, but for pictures, which would double its size", () => {
    const documents = filesOf(installed()).filter((file) => file.endsWith(".md"));
    expect(documents.length).toBeGreaterThan(30);
    const links = documents.flatMap((document) =>
      [...readFileSync(document, "utf8").matchAll(/\]\(([^)\s]+)\)|^\[[^\]]+\]: (\S+)/gm)].map(
        ([, inline, reference]) => [document, (inline ?? reference)!] as const,
      ),
    );
    const broken = links.filter(([document, target]) => {
      const [file] = target.split("#");
      const isElsewhere = /^(?:https?|mailto):/.test(target);
      return !isElsewhere && !target.endsWith(".png") && !existsSync(path.join(path.dirname(document), file!));
    });
    expect(broken).toEqual([]);
  });

  it("has source maps whose sources are there, too", () => {
    const maps = readdirSync(installed("dist", "lib"), { recursive: true, encoding: "utf8" }).filter((name) =>
      name.endsWith(".map"),
    );
    expect(maps.length).toBeGreaterThan(100);
    for (const map of maps) {
      const { sources } = JSON.parse(readFileSync(installed("dist", "lib", map), "utf8")) as { sources: string[] };
      for (const source of sources)
        expect(statSync(path.join(path.dirname(installed("dist", "lib", map)), source)).isFile()).toBe(true);
    }
  });

  it("its declarations have no `any` but those of untyped events, as in Socket.IO, and of tests", () => {
    const declarations = filesOf(installed("dist", "lib")).filter((file) => file.endsWith(".d.ts"));
    expect(declarations.length).toBeGreaterThan(100);
    const withAny = declarations.filter((file) => {
      const code = readFileSync(file, "utf8").replaceAll(/\/\*[^]*?\*\/|\/\/.*$|"[^"\n]*"/gm, "");
      return /\bany\b/.test(code);
    });
    expect(withAny.map((file) => path.relative(installed("dist", "lib"), file)).toSorted()).toEqual(WITH_ANY);
  });

  it("publint finds nothing in it", async () => {
    expect(await somebody.run(".", "publint", "run", somebody.tarball, "--strict")).toContain("All good!");
  });

  it("@arethetypeswrong/cli finds nothing in it", async () => {
    const output = await somebody.run(".", "attw", somebody.tarball, "--profile", "esm-only", "--format", "ascii");
    const { exports } = JSON.parse(readFileSync(installed("package.json"), "utf8")) as { exports: object };
    for (const entry of Object.keys(exports)) expect(output).toContain(`"${path.posix.join("parley-rooms", entry)}"`);
  });
});

describe.concurrent("the samples of the documents", () => {
  it("compile, and mistakes do not, with the oldest TypeScript, strict and with the declarations checked", async () => {
    const oldest = path.join("..", "typescript-5.7", "bin", "tsc");
    await somebody.run(".", oldest, "-p", "tsconfig.oldest.json");
  });

  it("compile, and mistakes do not, with the newest and with the types that `wrangler types` writes, in place of @cloudflare/workers-types", async () => {
    await somebody.run("mounted", "wrangler", "types");
    await somebody.run(".", "tsc", "-p", "tsconfig.generated.json", ...ONE_CHECKER);
  });

  it.each(["board", "readme"])("%s can be deployed", async (project) => {
    const output = await somebody.deployed(project);
    expect(output).toContain("--dry-run: exiting now.");
    expect(output).not.toMatch(/warning/i);
  });
});
