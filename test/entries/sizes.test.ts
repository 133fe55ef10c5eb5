// The size of the entries in an application, minified and compressed: as its bundler makes it of the package's sources.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import path from "node:path";

import { parse } from "jsonc-parser";
import { beforeAll, describe, expect, it } from "vitest";

import { bundlesOf, ROOT, type Bundle } from "./bundles.ts";

/** The project that `npm create parley` makes for a server of the package socket.io. */
const TEMPLATE = path.join(ROOT, "scripts/create-parley/templates/engine");
/** In the place of packages that only a server on Node needs. */
const NONE = path.join(TEMPLATE, "src/none.cjs");

const APPLICATIONS = {
  byHttp: 'import { byHttp } from "parley-rooms"; export { byHttp };',
  socketIoForAnyObject: 'export { connect, Namespace, SocketIoObject } from "parley-rooms/socketio";',
  socketIo: 'export * from "parley-rooms/socketio";',
  engineObject: 'export { connect, EngineObject } from "parley-rooms/engine";',
  engine: 'export * from "parley-rooms/engine";',
  "parley-rooms/client": 'export * from "parley-rooms/client";',
  connectRoom: 'import { connectRoom } from "parley-rooms/client"; connectRoom("https://chat.example", "lounge");',
  "parley-rooms/react": 'export * from "parley-rooms/react";',
  features: 'export * from "parley-rooms/features";',
};

let bundles: Record<keyof typeof APPLICATIONS, Bundle>;

beforeAll(async () => {
  bundles = await bundlesOf(APPLICATIONS);
});

describe("a Worker with the chat", () => {
  it("leaves out parts that it does not name", () => {
    const { packages, size } = bundles.byHttp;
    expect(packages).toEqual([]);
    expect(size).toBeLessThanOrEqual(5000);
  });
});

describe("Socket.IO for any object", () => {
  it("takes 40 kB, without chat, schemas, tokens or a framework", () => {
    const { size, packages } = bundles.socketIoForAnyObject;
    expect(size).toBeLessThanOrEqual(40_000);
    expect(packages).toEqual(["@socket.io/component-emitter", "itty-router", "socket.io-parser"]);
  });

  it("has code for tokens, recovery and schemas with their names only", () => {
    expect(bundles.socketIo.packages).toEqual([
      "@noble/hashes",
      "@socket.io/component-emitter",
      "itty-router",
      "jose",
      "socket.io-parser",
    ]);
  });
});

describe("a server of the package socket.io, in an object", () => {
  it("takes 38 kB besides that package, more with siblings, and none of what Socket.IO for any object is made of", () => {
    const { engineObject, engine } = bundles;
    expect(engineObject.size).toBeLessThanOrEqual(38_000);
    expect(engine.size).toBeGreaterThan(engineObject.size + 1000);
    expect(engine.packages).toEqual(["itty-router"]);
  });

  it("takes 50 KiB with that package, by the aliases of the project that `npm create parley` makes", async () => {
    const { alias } = parse(readFileSync(path.join(TEMPLATE, "wrangler.jsonc"), "utf8")) as {
      alias: Record<string, string>;
    };
    const files = Object.entries(alias).map(([name, file]) => [name, file.replace(/^\./, TEMPLATE)]);
    const { application } = await bundlesOf(
      { application: 'export { App, default } from "./docs/examples/unchanged/index.ts";' },
      Object.fromEntries(files) as Record<string, string>,
    );
    expect(application.size).toBeLessThanOrEqual(50 * 1024);
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
  ] as const)("%s takes %d bytes at most, socket.io-client among them, and brings no schemas", (entry, bytesMax) => {
    const { size, packages } = bundles[entry];
    expect(size).toBeLessThanOrEqual(bytesMax);
    expect(packages).not.toContain("zod");
  });

  it("takes 40 kB at most in a page that connects to a room", () => {
    expect(bundles.connectRoom.size).toBeLessThanOrEqual(40_000);
  });
});

describe("features", () => {
  it("take 20 kB besides the chat", () => {
    expect(bundles.features.size).toBeLessThanOrEqual(20_000);
  });
});
