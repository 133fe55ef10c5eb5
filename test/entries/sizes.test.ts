// The size of the entries in an application, minified and compressed: as its bundler makes it of the package's sources.
import path from "node:path";
import { gzipSync } from "node:zlib";

import { build } from "esbuild";
import { describe, expect, it } from "vitest";

const ROOT = path.join(import.meta.dirname, "..", "..");

interface Bundle {
  /** Bytes, compressed. */
  readonly size: number;
  /** The packages that have a part in it. */
  readonly packages: readonly string[];
}

async function bundleOf(application: string): Promise<Bundle> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: application, resolveDir: ROOT, loader: "ts" },
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: "esm",
    target: "es2024",
    conditions: ["parley-source", "workerd", "worker", "browser"],
    external: ["cloudflare:*", "react"],
  });
  const inputs = Object.entries(Object.values(metafile.outputs)[0]!.inputs);
  const packages = inputs
    .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
    .flatMap(([file]) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? []);
  return { size: gzipSync(outputFiles[0]!.contents).length, packages: [...new Set(packages)].toSorted() };
}

describe("a Worker with the chat", () => {
  it("takes 256 KiB with all that the deployment here has", async () => {
    const { size } = await bundleOf('export * from "./src/index.ts"; export { default } from "./src/index.ts";');
    expect(size).toBeLessThanOrEqual(256 * 1024);
  });

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

describe("the client", () => {
  it.each([
    ["parley-rooms/client", 40_000],
    ["parley-rooms/react", 42_000],
  ])("%s takes %d bytes at most, socket.io-client among them, and brings no schemas", async (entry, bytesMax) => {
    const { size, packages } = await bundleOf(`export * from "${entry}";`);
    expect(size).toBeLessThanOrEqual(bytesMax);
    expect(packages).not.toContain("zod");
  });
});

describe("features", () => {
  it("take 20 kB besides the chat", async () => {
    expect((await bundleOf('export * from "parley-rooms/features";')).size).toBeLessThanOrEqual(20_000);
  });
});
