// `npm create parley` into an existing Worker: each form that its configuration may have.
import { describe, expect, it } from "vitest";

import { addToWorker } from "../../../scripts/create-parley/existing/add-to-worker.ts";
import { textIn } from "../worker-folder.ts";
import { added, wish } from "./existing-worker.ts";

const FORMS: Readonly<Record<string, [name: string, text: string]>> = {
  "a short wrangler.toml": ["wrangler.toml", 'name = "mine" # the name\nmain = "src/index.ts"\n'],
  "wrangler.toml with tables": [
    "wrangler.toml",
    `name = "mine"
main = "src/index.ts"
compatibility_flags = ["nodejs_compat"] # for the database

# Our own objects.
[[durable_objects.bindings]]
name = "COUNTER"
class_name = "Counter"

[vars] # settings
COLOR = "teal"

[[migrations]]
tag = "v1" # the first
new_sqlite_classes = ["Counter"]
`,
  ],
  "wrangler.toml with inline tables": [
    "wrangler.toml",
    `name = "mine"
main = "src/index.ts"
durable_objects = { bindings = [ { name = "COUNTER", class_name = "Counter" } ] } # ours
migrations = [ { tag = "v1", new_sqlite_classes = ["Counter"] } ]
queues = {}
# the end`,
  ],
  "wrangler.toml with dotted keys": [
    "wrangler.toml",
    `name = "mine"
main = "src/index.ts"
durable_objects.bindings = [
  { name = "COUNTER", class_name = "Counter" }, # ours
  # more to come
]
queues.producers = [{ binding = "LETTERS", queue = "letters" }]
[[migrations]]
tag = "v1"
new_classes = ["Counter"]
`,
  ],
  "wrangler.toml with an array in a section": [
    "wrangler.toml",
    'name = "mine"\nmain = "src/index.ts"\n\n[durable_objects]\nbindings = [\n  { name = "COUNTER", class_name = "Counter" } # ours\n]\n\n[[migrations]]\ntag = "v1"\nnew_classes = ["Counter"]',
  ],
  "wrangler.toml with Windows line ends": [
    "wrangler.toml",
    'name = "mine"\r\n# ours\r\nmain = "src/index.ts"\r\n\r\n[vars]\r\nCOLOR = "teal"\r\n',
  ],
  "wrangler.jsonc with comments": [
    "wrangler.jsonc",
    `{
  // the name
  "name": "mine",
  "main": "src/index.ts", /* here */
  "durable_objects": {
    "bindings": [
      { "name": "COUNTER", "class_name": "Counter" } // ours
      // more to come
    ]
  },
  "migrations": [{ "tag": "v1", "new_sqlite_classes": ["Counter"] }]
}
`,
  ],
  "wrangler.jsonc with tabs and commas at the end": [
    "wrangler.jsonc",
    '{\n\t"name": "mine",\n\t"main": "src/index.ts",\n\t"durable_objects": {\n\t\t"bindings": [\n\t\t\t{\n\t\t\t\t"name": "COUNTER", // ours\n\t\t\t\t"class_name": "Counter",\n\t\t\t}, // it counts\n\t\t],\n\t},\n\t"r2_buckets": [], // none\n}\n',
  ],
  "wrangler.jsonc with Windows line ends and a byte order mark": [
    "wrangler.jsonc",
    '\uFEFF{\r\n  "name": "mine",\r\n  "main": "src/index.ts" // here\r\n}\r\n',
  ],
  "wrangler.json in one line": [
    "wrangler.json",
    '{"name":"mine","main":"src/index.ts","durable_objects":{"bindings":[]}}',
  ],
};

describe.each(Object.entries(FORMS))("%s", (_title, [name, text]) => {
  const EXTRAS = ["lobby", "files", "announcements", "relay", "webhooks", "shards"] as const;

  it("gets bindings, classes and queues, and keeps its own", () => {
    const { config, before } = added(name, text, { extras: EXTRAS });
    expect(config).toMatchObject({
      ...before,
      compatibility_flags: expect.anything(),
      durable_objects: expect.anything(),
      migrations: expect.anything(),
      queues: expect.anything(),
      ...(before.r2_buckets && { r2_buckets: expect.anything() }),
    });
    expect(config.compatibility_flags).toEqual([...(before.compatibility_flags ?? []), "no_web_socket_compression"]);
    expect(config.durable_objects!.bindings).toEqual([
      ...(before.durable_objects?.bindings ?? []),
      { name: "CHAT_ROOM", class_name: "ChatRoom" },
      { name: "LOBBY", class_name: "Lobby" },
      { name: "ANNOUNCEMENTS", class_name: "Announcements" },
      { name: "DEAD_LETTERS", class_name: "DeadLetters" },
      { name: "ROOM_SHARD", class_name: "RoomShard" },
    ]);
    expect(config.migrations).toEqual([
      ...(before.migrations ?? []),
      {
        tag: before.migrations ? "v2" : "v1",
        new_sqlite_classes: ["ChatRoom", "Lobby", "Announcements", "DeadLetters", "RoomShard"],
      },
    ]);
    expect(config.r2_buckets).toEqual([{ binding: "FILES", bucket_name: "mine-files" }]);
    expect(config.queues!.producers!.map(({ binding }) => binding).slice(-3)).toEqual([
      "RELAY_QUEUE",
      "WEBHOOKS",
      "WEBHOOKS_DEAD",
    ]);
    expect(config.queues!.consumers!.map(({ queue }) => queue)).toEqual([
      "mine-relay",
      "mine-relay-dead",
      "mine-webhooks",
    ]);
  });

  it("keeps each line with its comment, in order, and its line ends", () => {
    const { text: after } = added(name, text, { extras: EXTRAS });
    const lineEnd = text.includes("\r\n") ? "\r\n" : "\n";
    expect(after.split("\n").every((line) => line === "" || line.endsWith("\r") === (lineEnd === "\r\n"))).toBe(true);
    // A line may have got a comma, or more between its brackets; its comment stands behind it as before.
    const comments = text.match(/(?:#|\/\/).*|\/\*.*?\*\//g) ?? [];
    expect(after.match(/(?:#|\/\/).*|\/\*.*?\*\//g) ?? []).toEqual(comments);
    let at = 0;
    for (const word of text.match(/[\w"]+/g)!) {
      const found = after.indexOf(word, at);
      expect(found, word).toBeGreaterThanOrEqual(at);
      at = found + word.length;
    }
  });

  it("stays as it is the second time", () => {
    const { folder, text: once } = added(name, text, { extras: EXTRAS });
    const { lines } = addToWorker(wish(folder, { extras: EXTRAS }));
    expect(textIn(folder, name)).toBe(once);
    expect(lines[0]).toBe("Everything is there already; nothing was changed.");
  });
});
