// `npm create parley`: its arguments, new folders, and its output as a command.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import path from "node:path";
import { describe, expect, it, vi } from "vitest";

import { HELP, readArguments } from "../../../scripts/create-parley/arguments.ts";
import { create } from "../../../scripts/create-parley/command.ts";
import { makeProject, remoteOf, repositoryOf, type NewProject } from "../../../scripts/create-parley/new-project.ts";
import { folderOf, ROOT, textIn } from "../worker-folder.ts";

const MAIN = path.join(ROOT, "scripts/create-parley/main.ts");

/** Runs the command in a folder. @returns what it prints */
async function run(folder: string, ...args: string[]): Promise<string> {
  const written = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  const here = vi.spyOn(process, "cwd").mockReturnValue(folder);
  try {
    await create(args);
    return written.mock.calls.join("");
  } finally {
    for (const spy of [written, here]) spy.mockRestore();
  }
}

/** Makes a project in a new folder. @returns that folder */
function made(more: Partial<NewProject> = {}): string {
  const folder = path.join(folderOf({}), "mine");
  makeProject({ folder, template: "chat", name: "mine", ...more });
  return folder;
}

describe("arguments", () => {
  it("--help lists them", async () => {
    expect(await run(folderOf({}), "--help")).toBe(HELP);
    for (const option of [
      "--template",
      "--server",
      "--env",
      "--repository",
      "--base-path",
      "--with",
      "--classes",
      "--yes",
    ])
      expect(HELP).toContain(option);
  });

  it("--version is that of parley-rooms", async () => {
    const { version } = JSON.parse(textIn(ROOT, "package.json")) as { version: string };
    expect(await run(folderOf({}), "--version")).toBe(`${version}\n`);
  });

  it.each([
    [["--colour"], /^Unknown option '--colour'\. --help shows all options/],
    [["--template", "forum"], /no template "forum"; there are chat, socketio, existing/],
    [["--template"], /--template/],
    [["--template", "socketio", "--server", "bun"], /no server "bun"; there are unchanged, classes/],
    [["--template", "chat", "--server", "unchanged"], /--server is of --template socketio/],
    [["--server", "unchanged"], /--server is of --template socketio/],
    [["one", "two"], /one folder, not 2/],
    [["--with", "lobby,moon"], /no "moon"/],
    [["--classes", "ChatRoom"], /"ChatRoom" is not of the form ChatRoom=Salon/],
    [["--base-path", "chat room"], /"chat room" is no path/],
    [["--name", "My Chat"], /"My Chat" has to consist of small letters/],
    [["--repository", "https://example.com/ada/chat"], /neither owner\/name nor an address on GitHub or GitLab/],
  ])("%j: names what is wrong", (args, message) => {
    expect(() => readArguments(args)).toThrow(message);
  });

  it("without a terminal nothing can be asked: an error without a stack, and nothing written", () => {
    const folder = folderOf({});
    const stdio = ["ignore", "pipe", "pipe"] as const;
    const command = [MAIN, "--template", "chat"];
    const { status, stderr } = spawnSync(process.execPath, command, {
      cwd: folder,
      encoding: "utf8",
      stdio: [...stdio],
    });
    expect(stderr).toMatch(/no terminal to ask at/);
    expect(stderr).not.toContain("    at ");
    expect(status).toBe(1);
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe("a new project", () => {
  it("has the name of its folder, which may have blanks, and a secret of its own", async () => {
    const folder = folderOf({});
    expect(await run(folder, "My Chat 2", "--template", "chat")).toContain('cd "My Chat 2"');
    const project = path.join(folder, "My Chat 2");
    expect(textIn(project, "wrangler.jsonc")).toContain('"name": "my-chat-2"');
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

  it("goes into the folder that it is run in with `.`, also after git init", async () => {
    const folder = folderOf({});
    execFileSync("git", ["init", "-q"], { cwd: folder });
    await run(folder, ".", "--template", "chat", "--name", "forum");
    expect(JSON.parse(textIn(folder, "package.json"))).toMatchObject({ name: "forum" });
  });

  it("is a chat with --yes", async () => {
    const folder = folderOf({});
    await run(folder, "--yes");
    expect(existsSync(path.join(folder, "my-chat", "src", "chat-room.ts"))).toBe(true);
  });

  it.each([
    ["ada/my-chat", "github.com/ada/my-chat"],
    ["https://gitlab.com/ada/my-chat", "gitlab.com/ada/my-chat"],
  ])("has a button for its repository: --repository %s", (given, repository) => {
    const readme = textIn(made({ repository: repositoryOf(given) }), "README.md");
    expect(readme).toContain(`(https://deploy.workers.cloudflare.com/?url=https://${repository})`);
    expect(readme).not.toContain("OWNER");
  });

  it("has a button for the remote of its folder", () => {
    const folder = folderOf({});
    execFileSync("git", ["init", "-q"], { cwd: folder });
    execFileSync("git", ["remote", "add", "origin", "git@github.com:ada/forum.git"], { cwd: folder });
    expect(remoteOf(folder)).toBe("github.com/ada/forum");
    for (const address of ["https://github.com/ada/forum", "ssh://git@github.com/ada/forum.git"])
      expect(repositoryOf(address)).toBe("github.com/ada/forum");
  });

  it.each(["chat", "socketio", "engine"] as const)("without a repository says how to add a button: %s", (template) => {
    const readme = textIn(made({ template }), "README.md");
    expect(readme).toMatch(/^# mine\n\n<!-- dash/);
    expect(readme).toContain(
      `write this line at the top, with yours in the place of \`OWNER/REPOSITORY\`: \`[![Deploy`,
    );
  });

  it.each([
    ["a folder with files", "there", /not empty \(notes\.txt\)/],
    ["a file", "there/notes.txt", /is a file/],
    ["a folder below a file", "there/notes.txt/inner", /ENOTDIR/],
    ["a folder with a name that is too long", "a".repeat(300), /too long: 255 bytes at most/],
  ])("is refused in %s", (_case, where, message) => {
    const folder = folderOf({ "there/notes.txt": "mine" });
    expect(() => makeProject({ folder: path.join(folder, where), template: "chat", name: "mine" })).toThrow(message);
    expect(readdirSync(folder, { recursive: true })).toEqual(["there", "there/notes.txt"]);
  });
});

describe("in the folder of a Worker", () => {
  it.each([
    ["the chat, with --yes alone", "wrangler.toml", [], 'name = "CHAT_ROOM"', "parley.handle(request, env, ctx)"],
    [
      "a server as it is, with --server unchanged",
      "wrangler.jsonc",
      ["--template", "socketio", "--server", "unchanged"],
      '"name": "APP"',
      "this.serve(Server, {}, register)",
    ],
  ])("it prints the lines for %s, and changes nothing", async (_case, configuration, args, binding, code) => {
    const worker = folderOf({ [configuration]: "", "index.ts": "export default {};\n" });
    const out = await run(worker, ...args, "--yes");
    expect(out).toContain(`Nothing was changed. Add to ${configuration}`);
    expect(out).toContain(binding);
    expect(out).toContain(code);
    expect(out).toMatch(/^npm install parley-rooms( socket\.io)?$/m);
    expect(readdirSync(worker).toSorted()).toEqual(["index.ts", configuration]);
    expect(textIn(worker, configuration)).toBe("");
  });

  it.each([
    ["exports", "exports", "wrangler.toml", '# [[migrations]]\n[exports.Own]\ntype = "durable-object"\n'],
    ["exports", "a database", "wrangler.json", '{ "d1_databases": [{ "migrations_dir": "sql" }] }'],
    ["migrations", "migrations", "wrangler.toml", '[[ migrations ]]\ntag = "v1"\n'],
    ["migrations", "migrations in JSON", "wrangler.jsonc", '{ "name": "mine", "migrations": [{ "tag": "v1" }] }'],
  ])("it names the classes in %s if the configuration has %s", async (list, _has, configuration, text) => {
    const out = await run(folderOf({ [configuration]: text }), "--yes");
    const other = list === "exports" ? "migrations" : "exports";
    expect(out).toMatch(new RegExp(`^(\\[+|  ")${list}\\b`, "m"));
    expect(out).not.toMatch(new RegExp(`^(\\[+|  ")${other}\\b`, "m"));
  });
});
