// The projects that `npm create parley` makes, with nothing but the two tarballs and the registry: each template, and
// an application's Worker with Hono that gets the chat. Each is compiled, built for a deployment, and talks to stock
// clients; the installed doctor examines a chat and that Worker; templates are also tested by their own tests. And the
// projects of docs/testing.md and docs/in-your-worker.md, with their tests.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { serveBundle } from "./bundle-server.ts";
import { writeDocumented } from "./documented-project.ts";
import { linkPackages } from "./installation.ts";
import { execute } from "./packages.ts";
import { freePort, HOST, ProcessGroup } from "./servers.ts";
import { ask, next, open } from "./stock-clients.ts";
import { packPackages, type Tarballs } from "./tarballs.ts";

const folder = mkdtempSync(path.join(tmpdir(), "parley templates "));
/** What runs, with a way to end it. */
const servers: Array<{ stop(): Promise<void> }> = [];
let tarballs: Tarballs;

const inFolder = (...names: string[]): string => path.join(folder, ...names);
const run = (cwd: string, ...command: [string, ...string[]]): Promise<string> => execute(command, { cwd, niceness: 3 });

/** `npm create parley` with these arguments, of the tarball. */
const create = (...args: string[]): Promise<string> =>
  run(folder, process.execPath, inFolder("package", "main.js"), ...args);

/** Projects with tests of their own, each with the number of them. */
const TESTED = { chat: 4, board: 4, server: 3, mounted: 2 };

beforeAll(async () => {
  tarballs = await packPackages();
  // One file, and the templates: it needs no installation.
  await run(folder, "tar", "-xzf", tarballs.create);
  // In a clone, while the packages are not published: the project gets the package of the clone.
  const clone = `--package=file:${tarballs.createFolder}`;
  await run(folder, "npx", "--yes", clone, "create-parley", "chat", "--template", "chat");
  await create("board", "--template", "socketio");
  await create("server", "--template", "socketio", "--server", "unchanged");
  cpSync(path.join(import.meta.dirname, "notes-project"), inFolder("notes"), { recursive: true });
  // These docs/testing.md links to.
  for (const name of ["index.ts", "wrangler.toml"])
    cpSync(path.join(import.meta.dirname, "../../docs/examples/notes", name), inFolder("notes", name));
  writeDocumented(inFolder("notes"), "testing.md", "notes");
  mkdirSync(inFolder("mounted"));
  writeDocumented(inFolder("mounted"), "in-your-worker.md", "mounted");
  for (const name of [...Object.keys(TESTED), "notes"]) await linkPackages(inFolder(name));
});

afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()));
  rmSync(folder, { recursive: true, force: true });
});

type Manifest = Readonly<Record<"dependencies" | "scripts", Readonly<Record<string, string>>>>;

const manifestOf = (project: string): Manifest =>
  JSON.parse(readFileSync(path.join(project, "package.json"), "utf8")) as Manifest;

/** Where a shell of npm finds commands. */
const pathOf = (project: string): string =>
  [path.join(project, "node_modules", ".bin"), process.env["PATH"]].join(path.delimiter);

/**
 * Runs a line in a project as npm runs a script there: npm itself would take half a second each time. Each checker of the compiler would work out
 * the types of the platform anew.
 */
const sh = (project: string, line: string): Promise<string> =>
  execute(["sh", "-c", line.replaceAll(/\btsc\b/g, "$& --checkers 1")], {
    cwd: project,
    env: { PATH: pathOf(project) },
    niceness: 3,
  });

/** `npm run` with a script of the project. */
const script = (project: string, name: string, ...args: readonly string[]): Promise<string> =>
  sh(project, [manifestOf(project).scripts[name], ...args].join(" "));

/** Starts `npm run dev`, which is `wrangler dev`. */
async function dev(project: string): Promise<{ url: string; group: ProcessGroup }> {
  const port = await freePort();
  const line = `cd "$0" && exec ${manifestOf(project).scripts["dev"]} --ip ${HOST} --port ${port} --inspector-port 0`;
  const group = new ProcessGroup({
    program: "sh",
    args: ["-c", line, project],
    env: { PATH: pathOf(project), WRANGLER_SEND_METRICS: "false", CLOUDFLARE_CF_FETCH_ENABLED: "false" },
  });
  servers.push(group);
  await group.prints(/Ready on/);
  return { url: `http://${HOST}:${port}`, group };
}

/** Builds a project for a deployment. @returns what that prints */
const build = (project: string): Promise<string> =>
  script(project, "deploy", "--dry-run", "--outdir", path.basename(bundleOf(project)));

/** Runs what was built. @returns its address */
async function serve(project: string, variables: Readonly<Record<string, string>> = {}): Promise<string> {
  const server = await serveBundle(project, bundleOf(project), variables);
  servers.push(server);
  return server.url;
}

const bundleOf = (project: string): string => path.join(project, "bundle");

/** Whether a template has the types that Wrangler writes for it. */
async function checkTypes(project: string): Promise<void> {
  const file = path.join(project, "worker-configuration.d.ts");
  const before = readFileSync(file, "utf8");
  await script(project, "types");
  expect(readFileSync(file, "utf8")).toBe(before);
}

// Each runs a dozen programs, one after the other.
describe.concurrent("npm create parley", () => {
  it("a chat: two people talk, a forbidden word is refused, and the page is there; without a key it names the settings, and so does the doctor", async () => {
    const project = inFolder("chat");
    expect(manifestOf(project).dependencies["parley-rooms"]).toBe(`file:${tarballs.parley}`);
    await checkTypes(project);
    await script(project, "check");
    await build(project);

    const { url, group } = await dev(project);
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

    const doctor = (at: string): Promise<string> => sh(project, `parley-rooms doctor --json --url ${at}`);
    expect((JSON.parse(await doctor(url)) as { findings: unknown[] }).findings).toEqual([
      expect.objectContaining({ code: "key.local" }),
    ]);

    await group.stop();
    rmSync(path.join(project, ".dev.vars"));
    const keyless = await serve(project, { JWT_SECRET: "" });
    const page = await fetch(keyless);
    expect(page.status).toBe(503);
    expect(await page.text()).toContain("npx wrangler secret put JWT_SECRET");
    await expect(doctor(keyless)).rejects.toThrow(/key\.missing[^]*live\.misconfigured/);
  });

  it("a Socket.IO application: a line reaches everybody at the board", async () => {
    const project = inFolder("board");
    await checkTypes(project);
    await script(project, "check");
    await build(project);

    const url = await serve(project);
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

  it("a server of the package socket.io, as it is: people talk, the client is where Node has it, and the Worker is small", async () => {
    const project = inFolder("server");
    await checkTypes(project);
    await script(project, "check");
    const [, kib] = /gzip: ([\d.]+) KiB/.exec(await build(project))!;
    expect(Number(kib)).toBeLessThanOrEqual(54);

    const url = await serve(project);
    expect(await (await fetch(`${url}/socket.io/socket.io.js`)).text()).toContain("Socket.IO v4");
    const [ada, ben] = await Promise.all(
      ["ada", "ben"].map(async (name) => {
        const socket = open(url, { auth: { name } });
        await next(socket, "connect");
        return socket;
      }),
    );
    const heard = new Promise((resolve) => void ben!.once("said", (...args) => resolve(args)));
    expect(await ask(ada!, "say", "hello")).toEqual({ ok: true });
    expect(await heard).toEqual(["ada", "hello"]);
  });

  it("a Worker with Hono gets a chat and a board: the lines that it prints are all that is left to add", async () => {
    const project = inFolder("hono");
    cpSync(path.join(import.meta.dirname, "hono-worker"), project, { recursive: true });
    const { dependencies, ...manifest } = manifestOf(project);
    const withParley = { ...manifest, dependencies: { ...dependencies, "parley-rooms": "*" } };
    writeFileSync(path.join(project, "package.json"), JSON.stringify(withParley));
    const [chat, board] = [await linesFor("existing"), await linesFor("socketio")];
    // Tables and their lists grow wherever their items are; the flag is a key of the top level, once.
    const config = path.join(project, "wrangler.toml");
    const [flag, tables] = chat.configuration.split(/\n\n(?=\[)([^]*)/);
    const further = board.configuration.replace(`${flag}\n`, "");
    writeFileSync(config, `${flag}\n${readFileSync(config, "utf8")}\n${tables}\n${further}`);
    const entry = path.join(project, "src", "index.ts");
    const user = '({ user: request.headers.get("x-user") ?? "stranger" })';
    const code = readFileSync(entry, "utf8")
      .replace("interface Env {", `$&\n  ${/readonly BOARD: .*/.exec(board.code)![0]}`)
      .replace("export default", `${chat.route}\n${board.route}\n\n$&`);
    writeFileSync(entry, `${chat.head.replace("undefined,", `${user},`)}${board.head}${code}`);
    await linkPackages(project);
    await script(project, "check");
    const doctor = JSON.parse(await sh(project, "parley-rooms doctor --json")) as {
      ok: boolean;
      findings: ReadonlyArray<{ level: string; code: string }>;
    };
    expect(doctor.findings.filter(({ level }) => level !== "note").map(({ code }) => code)).toEqual(["key.missing"]);
    expect(doctor.ok).toBe(true);
    await build(project);

    const url = await serve(project);
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

describe.concurrent("projects", () => {
  // In one vitest: to start one for each takes longer than the tests.
  it("of the templates and of docs/in-your-worker.md pass their own tests, with evictions", async () => {
    for (const name of ["chat", "board", "server"])
      expect(manifestOf(inFolder(name)).scripts).toMatchObject({
        dev: expect.stringMatching(/^wrangler dev\b/),
        test: "vitest run",
      });
    const names = Object.keys(TESTED);
    // Beside them: what lies above them they could import, too.
    mkdirSync(inFolder("all"));
    symlinkSync(inFolder("chat", "node_modules"), inFolder("all", "node_modules"));
    const projects = names.map((name) => path.join("..", name));
    writeFileSync(inFolder("all", "vitest.config.mjs"), `export default ${JSON.stringify({ test: { projects } })};`);
    await sh(inFolder("all"), "vitest run --reporter default --reporter json --outputFile report.json");
    const { testResults } = JSON.parse(readFileSync(inFolder("all", "report.json"), "utf8")) as {
      testResults: ReadonlyArray<{ name: string; assertionResults: ReadonlyArray<{ status: string }> }>;
    };
    const passed = Object.fromEntries(
      names.map((name) => {
        const ofProject = testResults.filter((file) => file.name.startsWith(inFolder(name, "")));
        return [
          name,
          ofProject.flatMap((file) => file.assertionResults).filter(({ status }) => status === "passed").length,
        ];
      }),
    );
    expect(passed).toEqual(TESTED);
  });

  it("in the words of docs/testing.md: the tests of the notes pass in workerd, their simulation in Node, and all compiles", async () => {
    await sh(inFolder("notes"), "wrangler types && tsc && tsc -p tsconfig.strict.json");
    expect(await sh(inFolder("notes"), "vitest run")).toMatch(/Tests .*5 passed/);
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
