// `npm create parley` into an existing Worker: its additions, its output, and where it stops.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { addToWorker, type ExistingWish } from "../../../scripts/create-parley/existing/add-to-worker.ts";
import { folderOf, linkPackages, textIn } from "../worker-folder.ts";
import { added, ENTRY, MANIFEST, read, wish } from "./existing-worker.ts";

describe("its output", () => {
  const TOML = ["wrangler.toml", 'name = "mine" # the name\nmain = "src/index.ts"\n'] as const;

  it("names each change of each file", () => {
    const { lines } = added(...TOML);
    expect(lines.slice(0, 6)).toEqual([
      "wrangler.toml: added the compatibility flag no_web_socket_compression",
      "wrangler.toml: added the binding CHAT_ROOM of the class ChatRoom",
      "wrangler.toml: added the binding LOBBY of the class Lobby",
      "wrangler.toml: added the migration v1, which makes ChatRoom, Lobby",
      expect.stringMatching(/^package\.json: added the dependency parley-rooms \^\d/),
      'src/index.ts: added export { ChatRoom, Lobby } from "parley-rooms";',
    ]);
  });

  it("lists the commands that make queues", () => {
    const { lines } = added(...TOML, { extras: ["relay"] });
    expect(lines).toEqual(
      expect.arrayContaining([
        "  npx wrangler queues create mine-relay",
        "  npx wrangler queues create mine-relay-dead",
      ]),
    );
  });

  it("shows the lines to add: a route where the Worker uses Hono", () => {
    const { lines } = added(...TOML);
    expect(lines.join("\n")).toContain(
      '  app.all("/chat/*", async (c, next) => (await parley.handle(c.req.raw, c.env, c.executionCtx)) ?? next());',
    );
    const folder = folderOf({ "wrangler.toml": TOML[1], "package.json": "{}", "src/index.ts": ENTRY });
    expect(addToWorker(wish(folder)).lines.join("\n")).toContain(
      "  const answer = await parley.handle(request, env, ctx);",
    );
  });

  it("shows the type that Hono needs for the bindings, where it has none", () => {
    const TYPED = "  const app = new Hono<{ Bindings: Env }>();";
    const linesFor = (app: string, more: Partial<ExistingWish> = {}): readonly string[] => {
      const entry = `import { Hono } from "hono";\nconst app = ${app};\nexport default app;\n`;
      const folder = folderOf({ "wrangler.toml": TOML[1], "package.json": MANIFEST, "src/index.ts": entry });
      return addToWorker(wish(folder, more)).lines;
    };
    expect(linesFor("new Hono()")).toContain(TYPED);
    expect(linesFor("new Hono()", { gets: "socketio" })).toContain(TYPED);
    expect(linesFor("new Hono<{ Bindings: Mine }>()")).not.toContain(TYPED);
  });

  it.each([
    ["with Hono", ENTRY, "export default { fetch: app.fetch, queue: parley.queue };"],
    [
      "that has queues of its own",
      "export default { fetch() {}, async queue(batch) {} };\n",
      "handleQueue(batch, env)",
    ],
  ])("shows the line for the queues of a Worker %s", (_case, entry, line) => {
    const folder = folderOf({ "wrangler.toml": TOML[1], "package.json": MANIFEST, "src/index.ts": entry });
    expect(addToWorker(wish(folder, { extras: ["relay", "webhooks"] })).lines.join("\n")).toContain(line);
  });

  it("shows the line for the queues alone where the chat is there, until it is there as well", () => {
    const used = (more: string): string =>
      `import { createParley } from "parley-rooms";\nconst parley = createParley();\nexport default { fetch: parley.fetch${more} };\n`;
    const linesFor = (entry: string): readonly string[] => {
      const folder = folderOf({ "wrangler.toml": TOML[1], "package.json": "{}", "src/index.ts": entry });
      return addToWorker(wish(folder, { extras: ["relay"] })).lines;
    };
    expect(linesFor(used("")).slice(-5)).toEqual([
      "",
      "Add to src/index.ts:",
      "",
      "  // in the default export",
      "  queue: parley.queue,",
    ]);
    expect(linesFor(used(", queue: parley.queue")).join("\n")).not.toContain("Add to src/index.ts");
    expect(
      linesFor('import { createParley } from "parley-rooms";\nexport default createParley();\n').join(),
    ).not.toContain("Add to");
  });

  it("writes nothing with --dry-run", () => {
    const { folder, lines } = added(...TOML, { isDryRun: true });
    expect(textIn(folder, "wrangler.toml")).toBe(TOML[1]);
    expect(textIn(folder, "package.json")).toBe(MANIFEST);
    expect(textIn(folder, "src/index.ts")).toBe(ENTRY);
    expect(lines).toContain("Nothing was written: --dry-run.");
  });
});

describe("a Socket.IO application", () => {
  const TOML = 'name = "mine"\nmain = "src/index.ts"\n';
  const application: Partial<ExistingWish> = { gets: "socketio", basePath: "/board" };

  it("gets its binding, its migration, a file with its class, and the export; not the chat", () => {
    const { folder, lines, config } = added("wrangler.toml", TOML, application);
    expect(config).toMatchObject({
      durable_objects: { bindings: [{ name: "BOARD", class_name: "BoardObject" }] },
      migrations: [{ tag: "v1", new_sqlite_classes: ["BoardObject"] }],
    });
    expect(textIn(folder, "src/index.ts")).toBe(`${ENTRY}\nexport { BoardObject } from "./board.js";\n`);
    expect(textIn(folder, "src/board.ts")).toMatch(
      /^\/\/ A board[^]*interface ServerToClientEvents[^]*class BoardObject/,
    );
    expect(textIn(folder, "src/board.ts")).not.toContain("./events");
    expect(lines).toContain("src/board.ts: new; it has the class BoardObject");
    expect(lines.join("\n")).toContain(
      '  app.all("/board/*", (c) => connect(c.req.raw, { path: "/board", object: (name) => c.env.BOARD.getByName(name) }));',
    );
  });

  it.each([
    ["/board", 'startsWith("/board/")) return connect(request, { path: "/board", object'],
    ["", 'startsWith("/rooms/")) return connect(request, { object'],
  ])("shows the line of a Worker without Hono, at %j", (basePath, line) => {
    const folder = folderOf({ "wrangler.toml": TOML, "package.json": "{}", "src/index.ts": ENTRY });
    expect(addToWorker(wish(folder, { ...application, basePath })).lines.join("\n")).toContain(line);
  });

  it("is there once, beside a chat, and with what its author made of the file", () => {
    const { folder } = added("wrangler.toml", TOML);
    addToWorker(wish(folder, application));
    const file = path.join(folder, "src/board.ts");
    writeFileSync(file, `${readFileSync(file, "utf8")}// mine\n`);
    const before = ["wrangler.toml", "src/index.ts", "src/board.ts"].map((name) => textIn(folder, name));
    linkPackages(folder, ["wrangler"]);
    const { isWritten, lines } = addToWorker(wish(folder, application));
    expect(isWritten).toBe(false);
    expect(lines).toContain('  import { connect } from "parley-rooms/socketio";');
    expect(["wrangler.toml", "src/index.ts", "src/board.ts"].map((name) => textIn(folder, name))).toEqual(before);
    expect(before[0]).toContain('new_sqlite_classes = ["ChatRoom", "Lobby"]');
    expect(before[0]).toContain('new_sqlite_classes = ["BoardObject"]');
  });

  it("in JavaScript is exported from the file as it is named", () => {
    const folder = folderOf({ "wrangler.toml": 'main = "index.js"\n', "package.json": "{}", "index.js": ENTRY });
    addToWorker(wish(folder, application));
    expect(textIn(folder, "index.js")).toContain('export { BoardObject } from "./board.ts";');
  });

  it("stops, and writes nothing, where its file is another one", () => {
    const files = {
      "wrangler.toml": TOML,
      "package.json": MANIFEST,
      "src/index.ts": ENTRY,
      "src/board.ts": "// mine\n",
    };
    const folder = folderOf(files);
    expect(() => addToWorker(wish(folder, application))).toThrow(/board\.ts is there already/);
    for (const [name, text] of Object.entries(files)) expect(textIn(folder, name)).toBe(text);
  });
});

describe("environments", () => {
  const TOML = `name = "mine"
main = "src/index.ts"
migrations = [{ tag = "v1", new_sqlite_classes = ["Counter"] }]

[env.staging]
vars = { COLOR = "teal" }

[env.live]
name = "live-one"
compatibility_flags = ["nodejs_compat"]

[[env.live.durable_objects.bindings]]
name = "COUNTER"
class_name = "Counter"
`;

  it("get the bindings; migrations and flags go where the environment has them from", () => {
    const { config } = added("wrangler.toml", TOML, { environment: "staging", extras: ["files"] });
    expect(config.env!["staging"]).toEqual({
      vars: { COLOR: "teal" },
      durable_objects: { bindings: [{ name: "CHAT_ROOM", class_name: "ChatRoom" }] },
      r2_buckets: [{ binding: "FILES", bucket_name: "mine-staging-files" }],
    });
    expect(config.migrations![1]).toEqual({ tag: "v2", new_sqlite_classes: ["ChatRoom"] });
    expect(config.compatibility_flags).toEqual(["no_web_socket_compression"]);
    expect(config.durable_objects).toBeUndefined();
  });

  it("have flags and a name of their own", () => {
    const { config } = added("wrangler.toml", TOML, { environment: "live", extras: ["files"] });
    expect(config.env!["live"]).toMatchObject({
      compatibility_flags: ["nodejs_compat", "no_web_socket_compression"],
      r2_buckets: [{ bucket_name: "live-one-files" }],
    });
    expect(config.env!["live"]!.durable_objects!.bindings).toHaveLength(2);
    expect(config.compatibility_flags).toBeUndefined();
  });

  it("are named where the top level gets the bindings, which they do not inherit", () => {
    expect(added("wrangler.toml", TOML).lines.join("\n")).toContain("--env NAME for staging, live");
  });

  it("share one migration: the second environment adds none", () => {
    const { folder } = added("wrangler.toml", TOML, { environment: "staging" });
    addToWorker(wish(folder, { environment: "live" }));
    expect(read("wrangler.toml", textIn(folder, "wrangler.toml")).migrations).toHaveLength(2);
  });
});

describe("classes that `exports` declares", () => {
  it("get the chat's beside them, and no migration", () => {
    const { config } = added(
      "wrangler.jsonc",
      '{\n  "name": "mine",\n  "main": "src/index.ts",\n  "exports": {\n    "Counter": { "type": "durable-object", "storage": "sqlite" }\n  }\n}\n',
    );
    const sqlite = { type: "durable-object", storage: "sqlite" };
    expect(config.exports).toEqual({ Counter: sqlite, ChatRoom: sqlite, Lobby: sqlite });
    expect(config.migrations).toBeUndefined();
  });
});

describe("the tag of the next migration", () => {
  it.each([
    ["v2", "v3"],
    ["0009", "0010"],
    ["counter", "parley-v1"],
    ["2026-11-01", "2026-11-02"],
  ])("after %s is %s", (last, next) => {
    const { config } = added(
      "wrangler.toml",
      `name = "mine"\nmain = "src/index.ts"\n[[migrations]]\ntag = "${last}"\nnew_classes = ["X"]\n`,
    );
    expect(config.migrations!.at(-1)!.tag).toBe(next);
  });
});

describe("it stops, and writes nothing", () => {
  const MAIN = 'name = "mine"\nmain = "src/index.ts"\n';
  it.each<[string, string, string, RegExp, Partial<ExistingWish>?]>([
    ["at broken JSON", "wrangler.jsonc", '{\n  "name": "mine",,\n', /line 2/],
    ["at broken TOML", "wrangler.toml", 'name = "mine\n', /line 1/],
    ["at JSON that is no object", "wrangler.jsonc", "[]", /no object/],
    ["without code", "wrangler.toml", 'name = "mine"\n', /no `main`/],
    ["at a Pages project", "wrangler.toml", 'name = "mine"\npages_build_output_dir = "dist"\n', /Pages/],
    [
      "at an unknown environment",
      "wrangler.toml",
      `${MAIN}[env.live]\n`,
      /no environment "life"; there are live/,
      { environment: "life" },
    ],
    [
      "at a binding of another class",
      "wrangler.toml",
      `${MAIN}[[durable_objects.bindings]]\nname = "CHAT_ROOM"\nclass_name = "Mine"\n`,
      /class Mine/,
    ],
    [
      "at a class of that name",
      "wrangler.toml",
      `${MAIN}[[durable_objects.bindings]]\nname = "ROOMS"\nclass_name = "ChatRoom"\n`,
      /bound already, as ROOMS/,
    ],
    [
      "at a class without SQLite",
      "wrangler.toml",
      `${MAIN}[[migrations]]\ntag = "v1"\nnew_classes = ["ChatRoom"]\n`,
      /new_classes/,
    ],
    [
      "at the setting that contradicts a flag",
      "wrangler.toml",
      `${MAIN}compatibility_flags = ["web_socket_compression"]\n[vars]\nCOMPRESSION = "off"\n`,
      /COMPRESSION/,
    ],
    ["where there is no configuration", "other.toml", MAIN, /no wrangler\.toml/],
  ])("%s", (_case, name, text, message, more = {}) => {
    const folder = folderOf({ [name]: text, "package.json": MANIFEST, "src/index.ts": ENTRY });
    expect(() => addToWorker(wish(folder, more))).toThrow(message);
    expect([name, "package.json", "src/index.ts"].map((file) => textIn(folder, file))).toEqual([text, MANIFEST, ENTRY]);
    expect(readdirSync(folder)).toHaveLength(3);
  });

  it("at a key that is there twice, and lists the lines to add by hand", () => {
    const text = '{ "main": "src/index.ts", "migrations": [], "migrations": [] }';
    const folder = folderOf({ "wrangler.jsonc": text, "src/index.ts": ENTRY });
    expect(() => addToWorker(wish(folder))).toThrow(/Add by hand:\n[^]* {2}migrations\[\] = \{"tag":"v1"/);
    expect(textIn(folder, "wrangler.jsonc")).toBe(text);
  });

  it("at a value that is no list", () => {
    const folder = folderOf({
      "wrangler.jsonc": '{ "main": "src/index.ts", "durable_objects": { "bindings": "none" } }',
    });
    expect(() => addToWorker(wish(folder))).toThrow("`durable_objects.bindings` is no list");
  });

  it("at a broken package.json", () => {
    const folder = folderOf({ "wrangler.toml": MAIN, "package.json": "{", "src/index.ts": ENTRY });
    expect(() => addToWorker(wish(folder))).toThrow(/package\.json cannot be read/);
    expect(textIn(folder, "wrangler.toml")).toBe(MAIN);
  });
});

it("a Worker that compresses frames keeps its flag, and gets the setting", () => {
  const { config } = added(
    "wrangler.toml",
    'name = "mine"\nmain = "src/index.ts"\ncompatibility_flags = ["web_socket_compression"]\n',
  );
  expect(config.compatibility_flags).toEqual(["web_socket_compression"]);
  expect(config.vars).toEqual({ COMPRESSION: "on" });
});
