// `npm create parley` as a command: arguments, new folders, and its output.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, statSync } from "node:fs";
import path from "node:path";
import { parse } from "jsonc-parser";
import { describe, expect, it } from "vitest";

import { readArguments } from "../../../scripts/create-parley/arguments.ts";
import { folderOf, textIn } from "../worker-folder.ts";

const MAIN = path.join(import.meta.dirname, "../../../scripts/create-parley/main.ts");

/** Runs the command without a terminal. */
function run(folder: string, ...args: string[]): { status: number | null; out: string; error: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, ...args], {
    cwd: folder,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
  return { status, out: stdout, error: stderr };
}

describe("arguments", () => {
  it.each(["--help", "-h"])("%s lists them", (flag) => {
    const { status, out } = run(folderOf({}), flag);
    expect(status).toBe(0);
    for (const option of ["--template", "--env", "--repository", "--base-path", "--with", "--dry-run", "--yes"])
      expect(out).toContain(option);
  });

  it("--version is that of parley-rooms", () => {
    const { version } = JSON.parse(textIn(path.join(import.meta.dirname, "../../.."), "package.json")) as {
      version: string;
    };
    expect(run(folderOf({}), "--version").out.trim()).toBe(version);
  });

  it.each([
    [["--colour"], /^Unknown option '--colour'/],
    [["--template", "forum"], /no template "forum"; there are chat, socketio, existing/],
    [["--template"], /--template/],
    [["one", "two"], /one folder, not 2/],
    [["--with", "lobby,moon"], /no "moon"/],
    [["--base-path", "chat room"], /"chat room" is no path/],
    [["--name", "My Chat"], /"My Chat" has to consist of small letters/],
    [["--repository", "https://example.com/ada/chat"], /neither owner\/name nor an address on GitHub or GitLab/],
  ])("%j: names what is wrong", (args, message) => {
    expect(() => readArguments(args)).toThrow(message);
  });

  it.each([
    [["--colour"], /--help shows all options/],
    [["--template", "chat"], /no terminal to ask at/],
  ])("%j: an error without a stack, and nothing written", (args, message) => {
    const folder = folderOf({});
    const { status, error } = run(folder, ...args);
    expect(error).toMatch(message);
    expect(error).not.toContain("    at ");
    expect(status).toBe(1);
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe("a new project", () => {
  it("has the name of its folder, which may have blanks, and a secret of its own", () => {
    const folder = folderOf({});
    const { status, out } = run(folder, "My Chat 2", "--template", "chat");
    expect(status).toBe(0);
    expect(out).toContain('cd "My Chat 2"');
    const project = path.join(folder, "My Chat 2");
    expect(parse(textIn(project, "wrangler.jsonc"))).toMatchObject({ name: "my-chat-2" });
    expect(JSON.parse(textIn(project, "package.json"))).toMatchObject({ name: "my-chat-2" });
    expect(textIn(project, ".dev.vars")).toMatch(/^JWT_SECRET=[\w-]{43}$/m);
    expect(textIn(project, ".dev.vars.example")).toMatch(/^JWT_SECRET=$/m);
    expect(statSync(path.join(project, ".dev.vars")).mode & 0o077).toBe(0);
    expect(textIn(project, ".gitignore")).toContain(".dev.vars");
    const texts = readdirSync(project, { recursive: true, encoding: "utf8" }).filter((name) =>
      statSync(path.join(project, name)).isFile(),
    );
    expect(texts.filter((name) => textIn(project, name).includes("parley-chat-template"))).toEqual([]);
  });

  it("goes into the folder that it is run in with `.`, also after git init", () => {
    const folder = folderOf({});
    execFileSync("git", ["init", "-q"], { cwd: folder });
    expect(run(folder, ".", "--template", "chat", "--name", "forum").status).toBe(0);
    expect(JSON.parse(textIn(folder, "package.json"))).toMatchObject({ name: "forum" });
  });

  const BUTTON = "https://deploy.workers.cloudflare.com/?url=https://";

  it.each([
    ["ada/my-chat", "github.com/ada/my-chat"],
    ["https://gitlab.com/ada/my-chat", "gitlab.com/ada/my-chat"],
  ])("has a button for its repository: --repository %s", (given, repository) => {
    const folder = folderOf({});
    expect(run(folder, "mine", "--template", "chat", "--repository", given).status).toBe(0);
    const readme = textIn(path.join(folder, "mine"), "README.md");
    expect(readme).toContain(`(${BUTTON}${repository})`);
    expect(readme).not.toContain("OWNER");
  });

  it.each(["git@github.com:ada/forum.git", "https://github.com/ada/forum", "ssh://git@github.com/ada/forum.git"])(
    "has a button for the remote of its folder: %s",
    (remote) => {
      const folder = folderOf({});
      execFileSync("git", ["init", "-q"], { cwd: folder });
      execFileSync("git", ["remote", "add", "origin", remote], { cwd: folder });
      expect(run(folder, ".", "--template", "socketio", "--name", "forum").status).toBe(0);
      expect(textIn(folder, "README.md")).toContain(`(${BUTTON}github.com/ada/forum)`);
    },
  );

  it.each(["chat", "socketio"])("without a repository has no button, and a sentence how to add one: %s", (template) => {
    const folder = folderOf({});
    expect(run(folder, "mine", "--template", template).status).toBe(0);
    const readme = textIn(path.join(folder, "mine"), "README.md");
    expect(readme).toMatch(/^# mine\n\n<!-- dash/);
    expect(readme).toContain(
      `write this line at the top, with yours in the place of \`OWNER/REPOSITORY\`: \`[![Deploy`,
    );
  });

  it("goes nowhere with --template socketio in the folder of a Worker, which gets the application", () => {
    const worker = folderOf({ "wrangler.toml": 'main = "index.ts"\n', "index.ts": "export default {};\n" });
    const { status, out } = run(worker, "--template", "socketio", "--yes");
    expect(status).toBe(0);
    expect(out).toContain("wrangler.toml: added the binding BOARD");
    expect(existsSync(path.join(worker, "board.ts"))).toBe(true);
    expect(existsSync(path.join(worker, "my-app"))).toBe(false);
  });

  it.each([
    ["a folder with files", "there"],
    ["a file", "there/notes.txt"],
    ["a folder below a file", "there/notes.txt/inner"],
  ])("is refused in %s", (_case, where) => {
    const folder = folderOf({ "there/notes.txt": "mine" });
    const { status, error } = run(folder, where, "--template", "chat");
    expect(status).toBe(1);
    expect(error).toMatch(/not empty \(notes\.txt\)|is a file|ENOTDIR/);
    expect(error).not.toContain("    at ");
    expect(readdirSync(path.join(folder, "there"))).toEqual(["notes.txt"]);
  });

  it("is refused by a name that no folder can have", () => {
    const folder = folderOf({});
    const { status, error } = run(folder, "a".repeat(300), "--template", "chat", "--yes");
    expect(status).toBe(1);
    expect(error.trim()).toBe("The name of the folder is too long: 255 bytes at most.");
    expect(readdirSync(folder)).toEqual([]);
  });

  it("is a chat with --yes, and the Worker that is there gets the chat", () => {
    const folder = folderOf({});
    expect(run(folder, "--yes").status).toBe(0);
    expect(existsSync(path.join(folder, "my-chat", "src", "chat-room.ts"))).toBe(true);
    const worker = folderOf({
      "wrangler.jsonc": '{ "name": "mine", "main": "index.js" }',
      "index.js": "export default {};\n",
    });
    mkdirSync(path.join(worker, "lib"));
    const { status, out } = run(worker, "--yes");
    expect(status).toBe(0);
    expect(out).toContain("wrangler.jsonc: added the binding CHAT_ROOM");
    expect(textIn(worker, "index.js")).toContain('from "parley-rooms"');
  });
});
