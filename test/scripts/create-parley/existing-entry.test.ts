// `npm create parley` into an existing Worker: reading its entry file, and adding to it.
import { describe, expect, it } from "vitest";

import { addToWorker } from "../../../scripts/create-parley/existing/add-to-worker.ts";
import { folderOf, linkPackages, textIn } from "../worker-folder.ts";
import { ENTRY, MANIFEST, wish } from "./existing-worker.ts";

describe("the entry file", () => {
  const CONFIG = 'name = "mine"\nmain = "src/index.ts"\n';
  const entryAfter = (
    entry: string,
    config = CONFIG,
    name = "src/index.ts",
  ): { text: string; lines: readonly string[] } => {
    const folder = folderOf({ "wrangler.toml": config, "package.json": MANIFEST, [name]: entry });
    const { lines } = addToWorker(wish(folder));
    return { text: textIn(folder, name), lines };
  };

  it("gets the export at its end", () => {
    expect(entryAfter(ENTRY).text).toBe(`${ENTRY}\nexport { ChatRoom, Lobby } from "parley-rooms";\n`);
  });

  it("stays as it is where it exports the classes", () => {
    const entry = `${ENTRY}export class ChatRoom extends BaseChatRoom {}\nexport { Lobby } from "parley-rooms";\n`;
    const { text, lines } = entryAfter(entry);
    expect(text).toBe(entry);
    expect(lines.join("\n")).not.toContain("by hand");
  });

  it("gets the export of those classes alone that it does not export", () => {
    const entry = `${ENTRY}export class ChatRoom extends BaseChatRoom {}\n`;
    expect(entryAfter(entry).text).toBe(`${entry}\nexport { Lobby } from "parley-rooms";\n`);
  });

  describe("with `export *` from a file of the Worker", () => {
    const entry = `export * from "./rooms.ts";\n${ENTRY}`;
    const rooms = `import { ChatRoom as Base } from "parley-rooms";
export class ChatRoom extends Base { override beforePost() { return { reject: "nothing may be said" }; } }
`;
    const files = { "wrangler.toml": CONFIG, "package.json": MANIFEST, "src/index.ts": entry, "src/rooms.ts": rooms };

    it("keeps a class from there, which an export by name would hide", () => {
      const folder = folderOf(files);
      linkPackages(folder, ["wrangler"]);
      addToWorker(wish(folder));
      expect(textIn(folder, "src/index.ts")).toBe(`${entry}\nexport { Lobby } from "parley-rooms";\n`);
      const { isWritten, lines } = addToWorker(wish(folder));
      expect(isWritten).toBe(false);
      expect(lines.join("\n")).not.toContain("by hand");
    });

    it("stops, and writes nothing, where the class from there is no room", () => {
      const folder = folderOf({ ...files, "src/rooms.ts": "export class ChatRoom {}\n" });
      linkPackages(folder, ["wrangler"]);
      expect(() => addToWorker(wish(folder))).toThrow(/index\.ts has a class ChatRoom of its own/);
    });

    it("stays as it is where the packages are not installed, and the file cannot be read with those", () => {
      const folder = folderOf(files);
      const { lines } = addToWorker(wish(folder));
      expect(textIn(folder, "src/index.ts")).toBe(entry);
      expect(lines).toContain(
        'src/index.ts: add by hand, except for classes that ./rooms.ts has, which this would hide: export { ChatRoom, Lobby } from "parley-rooms";',
      );
    });
  });

  it("gets the export where a comment alone has it", () => {
    const entry = `/* export { ChatRoom, Lobby } from "parley-rooms"; */ ${ENTRY}// export { Lobby }\n`;
    expect(entryAfter(entry).text).toBe(`${entry}\nexport { ChatRoom, Lobby } from "parley-rooms";\n`);
  });

  it.each([
    ["has the name already", `const ChatRoom = 1;\n${ENTRY}`, undefined, undefined],
    ["is the output of a build", ENTRY, 'name = "mine"\nmain = "dist/index.js"\n', "dist/index.js"],
    ["is no module", "addEventListener('fetch', () => {});\n", undefined, undefined],
  ])("stays as it is where it %s: the export is to be added by hand", (_case, entry, config, name) => {
    const { text, lines } = entryAfter(entry, config, name);
    expect(text).toBe(entry);
    expect(lines.join("\n")).toContain('add by hand: export { ChatRoom, Lobby } from "parley-rooms";');
  });
});

it.each([
  ["export class ChatRoom {}", "ChatRoom"],
  ["class Lobby implements Hall { }", "Lobby"],
  ['import { DurableObject } from "cloudflare:workers";\nexport class ChatRoom extends DurableObject {}', "ChatRoom"],
])("stops, and writes nothing, where the entry file has a class of its own: %s", (code, name) => {
  const files = { "wrangler.toml": 'main = "src/index.ts"\n', "package.json": MANIFEST, "src/index.ts": code + ENTRY };
  const folder = folderOf(files);
  expect(() => addToWorker(wish(folder))).toThrow(`index.ts has a class ${name} of its own`);
  for (const [file, text] of Object.entries(files)) expect(textIn(folder, file)).toBe(text);
});
