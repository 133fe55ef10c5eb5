// The projects that `npm create parley` makes, with nothing but the two tarballs and the registry: each template, and
// an application's Worker with Hono that gets the chat. Each is installed, compiled, tested by its own tests, examined
// by the doctor, built for a deployment, and talks to stock clients. And the projects of docs/testing.md and
// docs/in-your-worker.md, with their tests.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { writeDocumented } from "./documented-project.ts";
import { execute } from "./packages.ts";
import { freePort, HOST, ProcessGroup } from "./servers.ts";
import { ask, next, open } from "./stock-clients.ts";
import { packPackages, type Tarballs } from "./tarballs.ts";

const folder = mkdtempSync(path.join(tmpdir(), "parley templates "));
const groups: ProcessGroup[] = [];
let tarballs: Tarballs;

const inFolder = (...names: string[]): string => path.join(folder, ...names);
const run = (cwd: string, ...command: [string, ...string[]]): Promise<string> => execute(command, { cwd, niceness: 3 });
const npm = (cwd: string, ...args: string[]): Promise<string> => run(cwd, "npm", ...args);

/** `npm create parley` with these arguments, of the tarball. */
const create = (...args: string[]): Promise<string> =>
  run(folder, process.execPath, inFolder("package", "main.js"), ...args);

const INSTALL = ["install", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"];

beforeAll(async () => {
  tarballs = await packPackages();
  // One file, and the templates: it needs no installation.
  await run(folder, "tar", "-xzf", tarballs.create);
  // In a clone, while the packages are not published: the project gets the package of the clone.
  await run(
    folder,
    "npx",
    "--yes",
    `--package=file:${tarballs.createFolder}`,
    "create-parley",
    "chat",
    "--template",
    "chat",
  );
  await npm(inFolder("chat"), ...INSTALL);
});

afterAll(async () => {
  await Promise.all(groups.map((group) => group.stop()));
  rmSync(folder, { recursive: true, force: true });
});

/** The tarball takes the place of the release, which is not there yet. */
const takeTarball = (project: string): Promise<string> =>
  npm(project, "pkg", "set", `dependencies.parley-rooms=file:${tarballs.parley}`);

const copyPackages = (project: string): Promise<string> =>
  run(folder, "cp", "-al", inFolder("chat", "node_modules"), path.join(project, "node_modules"));

/** Installs a project, beginning with a copy of the chat's packages: nearly all are the same. */
async function install(project: string): Promise<void> {
  await takeTarball(project);
  await copyPackages(project);
  await npm(project, ...INSTALL);
}

/** Starts `npm run dev`, or `wrangler dev`. @returns its address */
async function dev(project: string): Promise<string> {
  const port = await freePort();
  const args = ["run", "dev", "--", "--ip", HOST, "--port", String(port), "--inspector-port", "0"];
  const group = new ProcessGroup({
    program: "npm",
    args: ["--prefix", project, ...args],
    env: { WRANGLER_SEND_METRICS: "false", CLOUDFLARE_CF_FETCH_ENABLED: "false" },
  });
  groups.push(group);
  await group.prints(/Ready on/);
  return `http://${HOST}:${port}`;
}

/** Whether a template has the types that Wrangler writes for it. */
async function checkTypes(project: string): Promise<void> {
  const file = path.join(project, "worker-configuration.d.ts");
  const before = readFileSync(file, "utf8");
  await npm(project, "run", "types");
  expect(readFileSync(file, "utf8")).toBe(before);
}

/** Compiles, tests, builds and examines a project, in which the doctor warns of nothing else. */
async function check(project: string, warnings: readonly string[] = []): Promise<void> {
  await npm(project, "run", "check");
  await npm(project, "run", "deploy", "--", "--dry-run");
  const doctor = JSON.parse(await run(project, "npx", "parley-rooms", "doctor", "--json")) as {
    ok: boolean;
    findings: ReadonlyArray<{ level: string; code: string }>;
  };
  expect(doctor.findings.filter(({ level }) => level !== "note").map(({ code }) => code)).toEqual(warnings);
  expect(doctor.ok).toBe(true);
}

// Each runs a dozen programs, one after the other.
describe.concurrent("npm create parley", () => {
  it("a chat: two people talk, a forbidden word is refused, and the page is there", async () => {
    const project = inFolder("chat");
    await checkTypes(project);
    await check(project);
    expect(await npm(project, "test")).toMatch(/Tests .*4 passed/);

    const url = await dev(project);
    expect(await (await fetch(url)).text()).toContain("<title>Parley</title>");
    const [ada, ben] = await Promise.all(
      ["Ada", "Ben"].map(async (name) => {
        const guest = await fetch(`${url}/api/guest`, { method: "POST", body: JSON.stringify({ name }) });
        const { token } = (await guest.json()) as { token: string };
        const socket = open(url, { path: "/rooms/lounge/socket.io", auth: { token } });
        await next(socket, "welcome");
        return socket;
      }),
    );
    const heard = next(ben!, "chat-message");
    expect(await ask(ada!, "chat-message", { content: "Hello!" })).toMatchObject({ ok: true });
    expect(await heard).toMatchObject({ name: "Ada", content: "Hello!" });
    expect(await ask(ada!, "chat-message", { content: "spam" })).toMatchObject({ error: { code: "REJECTED" } });

    const doctor = await run(project, "npx", "parley-rooms", "doctor", "--json", "--url", url);
    expect((JSON.parse(doctor) as { findings: unknown[] }).findings).toEqual([
      expect.objectContaining({ code: "key.local" }),
    ]);
  });

  it("a chat without a key names the settings on its page, and so does the doctor", async () => {
    const project = inFolder("keyless");
    await create("keyless", "--template", "chat");
    rmSync(path.join(project, ".dev.vars"));
    await copyPackages(project);
    const url = await dev(project);
    const page = await fetch(url);
    expect(page.status).toBe(503);
    expect(await page.text()).toContain("npx wrangler secret put JWT_SECRET");
    const doctor = run(project, "npx", "parley-rooms", "doctor", "--json", "--url", url);
    await expect(doctor).rejects.toThrow(/key\.missing[^]*live\.misconfigured/);
  });

  it("a Socket.IO application: a line reaches everybody at the board", async () => {
    const project = inFolder("board");
    await create("board", "--template", "socketio");
    await install(project);
    await checkTypes(project);
    await check(project);
    expect(await npm(project, "test")).toMatch(/Tests .*4 passed/);

    const url = await dev(project);
    expect(await (await fetch(`${url}/page.js`)).text()).toContain("socket.io");
    const [ada, ben] = await Promise.all(
      ["ada", "ben"].map(async () => {
        const socket = open(url, { path: "/rooms/plans/socket.io" });
        await next(socket, "connect");
        return socket;
      }),
    );
    const heard = next(ben!, "draw");
    expect(await ask(ada!, "draw", [0, 0, 1, 1])).toEqual({ ok: true });
    expect(await heard).toEqual([0, 0, 1, 1]);
  });

  it("a Worker with Hono gets a chat and a board: the lines that it prints are all that is left to add", async () => {
    const project = inFolder("hono");
    cpSync(path.join(import.meta.dirname, "hono-worker"), project, { recursive: true });
    const [chat, board] = [await linesFor("existing"), await linesFor("socketio")];
    // A list of tables grows wherever its items are; the flag is a key of the top level, once, and each migration has a tag of its own.
    const config = path.join(project, "wrangler.toml");
    const [flag, tables] = chat.configuration.split("\n\n[[migrations]]\n");
    const further = board.configuration.replace(`${flag}\n`, "").replace("parley-v1", "parley-v2");
    writeFileSync(config, `${flag}\n${readFileSync(config, "utf8")}\n[[migrations]]\n${tables}\n${further}`);
    const entry = path.join(project, "src", "index.ts");
    const user = '({ user: request.headers.get("x-user") ?? "stranger" })';
    const code = readFileSync(entry, "utf8")
      .replace("interface Env {", `$&\n  ${/readonly BOARD: .*/.exec(board.code)![0]}`)
      .replace("export default", `${chat.route}\n${board.route}\n\n$&`);
    writeFileSync(entry, `${chat.head.replace("undefined,", `${user},`)}${board.head}${code}`);
    await install(project);
    await check(project, ["key.missing"]);

    const url = await dev(project);
    expect(await (await fetch(url)).text()).toBe("My own page");
    const ada = open(url, { path: "/chat/rooms/lounge/socket.io", extraHeaders: { "x-user": "ada" } });
    expect(await next(ada, "welcome")).toMatchObject({ user: "ada" });
    expect(await ask(ada, "chat-message", { content: "Hello!" })).toMatchObject({ ok: true, seq: 1 });

    const [ben, mia] = await Promise.all(
      ["ben", "mia"].map(async () => {
        const socket = open(url, { path: "/board/rooms/plans/socket.io" });
        await next(socket, "connect");
        return socket;
      }),
    );
    const heard = next(mia!, "draw");
    ben!.emit("draw", [0, 0, 1, 1]);
    expect(await heard).toEqual([0, 0, 1, 1]);
  });
});

describe.concurrent("a project in the words of a document", () => {
  it("docs/testing.md: the tests of the notes pass in workerd, their simulation in Node, and all compiles", async () => {
    const project = inFolder("notes");
    cpSync(path.join(import.meta.dirname, "notes-project"), project, { recursive: true });
    // These it links to.
    for (const name of ["index.ts", "wrangler.toml"])
      cpSync(path.join(import.meta.dirname, "../../docs/examples/notes", name), path.join(project, name));
    writeDocumented(project, "testing.md", "notes");
    await install(project);
    await run(project, "npx", "wrangler", "types");
    await run(project, "npx", "tsc");
    await run(project, "npx", "tsc", "-p", "tsconfig.strict.json");
    expect(await run(project, "npx", "vitest", "run")).toMatch(/Tests .*5 passed/);
  });

  it("docs/in-your-worker.md: the Worker can be deployed, and its test passes with an eviction", async () => {
    const project = inFolder("mounted");
    mkdirSync(project);
    writeDocumented(project, "in-your-worker.md", "mounted");
    await install(project);
    expect(await run(project, "npx", "wrangler", "deploy", "--dry-run")).toContain("--dry-run: exiting now.");
    expect(await run(project, "npx", "vitest", "run")).toMatch(/Tests .*2 passed/);
  });
});

/** The lines to add to the Worker with Hono, as they are printed. */
async function linesFor(template: string) {
  const printed = await create("hono", "--template", template, "--yes");
  const [, configuration, code] =
    /^Nothing was changed\. Add to wrangler\.toml.*:\n\n([^]*?)\n\nAdd to the entry file.*:\n\n([^]*?)\n\nThen, once:/.exec(
      printed,
    )!;
  // What goes to the top of a file comes before the first comment at the left edge.
  const [head] = code!.split(/^\/\/ /m) as [string];
  return { configuration: configuration!, code: code!, head, route: /^app\.all.*$/m.exec(code!)![0] };
}
