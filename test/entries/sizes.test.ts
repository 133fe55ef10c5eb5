// The size of the entries in an application, minified and compressed: as its bundler makes it of the package's sources.
import { builtinModules, createRequire } from "node:module";
import { readFileSync } from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";

import { build } from "esbuild";
import { parse } from "jsonc-parser";
import { describe, expect, it } from "vitest";

const ROOT = path.join(import.meta.dirname, "..", "..");
/** The project that `npm create parley` makes for a server of the package socket.io. */
const TEMPLATE = path.join(ROOT, "scripts/create-parley/templates/engine");
/** In the place of packages that only a server on Node needs. */
const NONE = path.join(TEMPLATE, "src/none.cjs");

interface Bundle {
  /** Bytes, compressed. */
  readonly size: number;
  /** The packages that have a part in it. */
  readonly packages: readonly string[];
}

/** @param alias files in the place of packages */
async function bundleOf(application: string, alias: Record<string, string> = {}): Promise<Bundle> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: application, resolveDir: ROOT, loader: "ts" },
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: "esm",
    target: "es2024",
    conditions: ["parley-source", "workerd", "worker", "browser"],
    external: ["cloudflare:*", "node:*", ...builtinModules, "react"],
    alias,
  });
  const inputs = Object.entries(Object.values(metafile.outputs)[0]!.inputs);
  const packages = inputs
    .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
    .flatMap(([file]) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? []);
  return { size: gzipSync(outputFiles[0]!.contents).length, packages: [...new Set(packages)].toSorted() };
}

describe("a Worker with the chat", () => {
  it("leaves out parts that it does not name", async () => {
    const { packages, size } = await bundleOf('import { byHttp } from "parley-rooms"; export { byHttp };');
    expect(packages).toEqual([]);
    expect(size).toBeLessThanOrEqual(5000);
  });
});

describe("Socket.IO for any object", () => {
  it("takes 40 kB, without chat, schemas, tokens or a framework", async () => {
    const { size, packages } = await bundleOf(
      'export { connect, Namespace, SocketIoObject } from "parley-rooms/socketio";',
    );
    expect(size).toBeLessThanOrEqual(40_000);
    expect(packages).toEqual(["@socket.io/component-emitter", "itty-router", "socket.io-parser"]);
  });

  it("has code for tokens, recovery and schemas with their names only", async () => {
    const { packages } = await bundleOf('export * from "parley-rooms/socketio";');
    expect(packages).toEqual([
      "@noble/hashes",
      "@socket.io/component-emitter",
      "itty-router",
      "jose",
      "socket.io-parser",
    ]);
  });
});

describe("a server of the package socket.io, in an object", () => {
  it("takes 38 kB besides that package, more with siblings, and none of what Socket.IO for any object is made of", async () => {
    const { size } = await bundleOf('export { connect, EngineObject } from "parley-rooms/engine";');
    expect(size).toBeLessThanOrEqual(38_000);
    const all = await bundleOf('export * from "parley-rooms/engine";');
    expect(all.size).toBeGreaterThan(size + 1000);
    expect(all.packages).toEqual(["itty-router"]);
  });

  it("takes 50 KiB with that package, by the aliases of the project that `npm create parley` makes", async () => {
    const { alias } = parse(readFileSync(path.join(TEMPLATE, "wrangler.jsonc"), "utf8")) as {
      alias: Record<string, string>;
    };
    const files = Object.entries(alias).map(([name, file]) => [name, file.replace(/^\./, TEMPLATE)]);
    const { size } = await bundleOf(
      'export { App, default } from "./docs/examples/unchanged/index.ts";',
      Object.fromEntries(files) as Record<string, string>,
    );
    expect(size).toBeLessThanOrEqual(50 * 1024);
  });

  it("has what stands for `debug` called as an application calls that package, in both kinds of modules", async () => {
    type Debug = (name: string) => (text: string) => void;
    const required = createRequire(import.meta.url)(NONE) as Debug & { debug: Debug; default: Debug };
    const { default: imported } = (await import(NONE)) as { default: Debug };
    for (const debug of [required, required.debug, required.default, imported])
      expect(debug("app")("text")).toBeUndefined();
  });
});

describe("the client", () => {
  it.each([
    ["parley-rooms/client", 44_000],
    ["parley-rooms/react", 46_000],
  ])("%s takes %d bytes at most, socket.io-client among them, and brings no schemas", async (entry, bytesMax) => {
    const { size, packages } = await bundleOf(`export * from "${entry}";`);
    expect(size).toBeLessThanOrEqual(bytesMax);
    expect(packages).not.toContain("zod");
  });

  it("takes 40 kB at most in a page that connects to a room", async () => {
    const { size } = await bundleOf(
      'import { connectRoom } from "parley-rooms/client"; connectRoom("https://chat.example", "lounge");',
    );
    expect(size).toBeLessThanOrEqual(40_000);
  });
});

describe("features", () => {
  it("take 20 kB besides the chat", async () => {
    expect((await bundleOf('export * from "parley-rooms/features";')).size).toBeLessThanOrEqual(20_000);
  });
});
