// The npm commands as a person at a terminal meets them: help, `npm start`, `npm run race`, `npm run token`, the end with all that they started, and the
// first command of a clone.
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, inject, it, vi } from "vitest";

import { NOTE } from "../../scripts/built-page.ts";
import { BUILT } from "./built-client.ts";
import { freePort, HOST, isListening, ProcessGroup, PROJECT_ROOT, TEST_SECRET } from "./servers.ts";
import { ask, join, next, open } from "./stock-clients.ts";

const scratch = mkdtempSync(path.join(tmpdir(), "parley-commands-"));
const started: ProcessGroup[] = [];

afterAll(async () => {
  await Promise.all(started.map((group) => group.stop()));
  rmSync(scratch, { recursive: true, force: true });
});

function command(args: readonly string[], env: Readonly<Record<string, string | undefined>> = {}): ProcessGroup {
  const group = new ProcessGroup({ args: [path.join("scripts", "run.mjs"), ...args], env });
  started.push(group);
  return group;
}

const { scripts } = JSON.parse(readFileSync(path.join(PROJECT_ROOT, "package.json"), "utf8")) as {
  scripts: Record<string, string>;
};
/** That one is another project's program, with a help of its own. */
const NAMES = Object.keys(scripts).filter((name) => name !== "format");

it.each(NAMES)("the help of %s says its usage and how long it takes", (name) => {
  expect(scripts[name]).toBe(`node scripts/run.mjs ${name}`);
  const help = readFileSync(path.join(PROJECT_ROOT, "scripts", "help", `${name}.txt`), "utf8");
  expect(help).toMatch(new RegExp(`^Usage: npm (run )?${name}\\b`));
  expect(help).toMatch(/\b(seconds?|minutes?|hours?)\b/);
});

it("--help prints it, through npm, and does nothing else", async () => {
  const group = new ProcessGroup({ program: "npm", args: ["run", "--silent", "fuzz", "--", "--help"] });
  expect(await group.exit()).toBe(0);
  expect(group.stdout).toContain("per target");
  expect(group.stderr).toBe("");
});

it("an unknown command fails with the list of commands", async () => {
  const group = command(["sevre"]);
  expect(await group.exit()).toBe(2);
  expect(group.stderr).toMatch(/no command "sevre"; there are start, test, .*serve/);
});

it("an unknown option is named, with the usage", async () => {
  const group = command(["start", "--port", "8799"]);
  expect(await group.exit()).toBe(1);
  expect(group.stderr).toMatch(/^Unknown option '--port'.*\nUsage: npm start\b/);
  expect(group.stderr).not.toMatch(/^ +at /m);
  expect(group.stdout).toBe("");
});

it("npm run load looks for a server at PORT", async () => {
  const port = await freePort();
  const group = command(["load"], { PORT: String(port) });
  expect(await group.exit()).toBe(1);
  expect(group.stderr).toContain(`http://${HOST}:${port}`);
});

/** A server that a command starts through npm, with a shell between npm and the command. */
function serve(name: string, env: Record<string, string>): ProcessGroup {
  const state = mkdtempSync(path.join(scratch, "state-"));
  const args = ["run", "--silent", name, "--", "--state", state];
  const group = new ProcessGroup({ program: "npm", args, env });
  started.push(group);
  return group;
}

/** Everything that npm started ends with it. */
async function endBy(end: (group: ProcessGroup) => void, group: ProcessGroup, port: number): Promise<void> {
  expect(await isListening(port)).toBe(true);
  expect(group.members().length).toBeGreaterThan(3);
  end(group);
  await vi.waitFor(() => expect(group.members()).toEqual([]), { interval: 100 });
  expect(await isListening(port)).toBe(false);
}

// Servers take a while to begin and to end: each serves for several questions.
describe.concurrent("npm start", () => {
  it("settings of the environment count; a large body harms no other request; LOG_LEVEL=debug logs more than warnings; Ctrl-C, which all of them hear, ends it", async () => {
    const port = await freePort();
    const url = `http://${HOST}:${port}`;
    const group = serve("start", {
      PORT: String(port),
      JWT_SECRET: TEST_SECRET,
      MAX_CONTENT_LENGTH: "77",
      LOG_LEVEL: "debug",
    });
    await group.prints(/Ready on/);
    const ada = await join(url, "lobby", "ada");
    ada.disconnect();
    ada.connect();
    // A token signed with the environment's secret was accepted, regardless of .dev.vars.
    expect(readFileSync(path.join(PROJECT_ROOT, ".dev.vars"), "utf8")).not.toContain(TEST_SECRET);
    expect(await next(ada, "welcome")).toMatchObject({ settings: { maxContentLength: 77 } });
    expect(await ask(ada, "chat-message", { content: "x".repeat(78) })).toMatchObject({ error: { code: "TOO_LONG" } });
    ada.disconnect();
    const post = (body: string): Promise<Response> =>
      fetch(`${url}/api/guest`, { method: "POST", headers: { "Content-Type": "application/json" }, body });
    for (const bytes of [70_000, 5_000_000]) {
      for (let round = 0; round < 5; round++) {
        expect((await post("x".repeat(bytes))).status).toBe(413);
        expect((await post('{"name":"Ada"}')).status).toBe(200);
      }
    }
    await group.prints(/{"level":"debug","event":"room\.woke","room":"lobby"/);
    expect(group.stdout).toContain(`Ready on ${url}\n`);
    // Wrangler warns of nothing in wrangler.toml.
    expect(group.stderr).toBe("");
    await endBy((npm) => npm.signalAll("SIGINT"), group, port);
  });

  it("a port in use: suggests another one", async () => {
    const port = await freePort();
    const squatter = createServer().listen(port, HOST);
    const group = command(["start"], { PORT: String(port) });
    expect(await group.exit()).toBe(1);
    expect(group.stdout).toBe("");
    expect(group.stderr).toMatch(new RegExp(`^Port ${port} is in use.*PORT=\\d+ npm start\\n$`));
    await new Promise((resolve) => squatter.close(resolve));
  });

  it("names every bad setting at once, not only the first", async () => {
    const group = command(["start"], { MESSAGE_RATE: "fast", MAX_PAYLOAD: "1", ALLOWED_ORIGINS: "nonsense" });
    expect(await group.exit()).toBe(1);
    expect(group.stdout).toBe("");
    for (const name of ["MESSAGE_RATE", "MAX_PAYLOAD", "ALLOWED_ORIGINS"]) expect(group.stderr).toContain(name);
    // A person reads this: no stack.
    expect(group.stderr).not.toMatch(/^ +at /m);
  });
});

describe.concurrent("npm run race", () => {
  it("serves the typing race over the sources of the repository, prints the Ready line and nothing else; kill -TERM of npm ends it", async () => {
    const port = await freePort();
    const url = `http://${HOST}:${port}`;
    const race = serve("race", { PORT: String(port) });
    await race.prints(/\n/);
    expect(await (await fetch(url)).text()).toContain("<title>Typing race</title>");
    const matched = await fetch(`${url}/api/matchmake`, { method: "POST" });
    expect(await matched.json()).toEqual({ room: expect.stringMatching(/^[\w-]+$/) });
    await endBy((npm) => npm.signal("SIGTERM"), race, port);
    expect(race.stdout).toBe(`Ready on ${url}\n`);
    expect(race.stderr).toBe("");
  });
});

describe.concurrent("npm run token", () => {
  it("prints a token that the local server accepts", async () => {
    const args = ["--user", "ada", "--name", "Ada Λ", "--role", "moderator", "--room", "lobby", "--ttl", "5m"];
    const group = command(["token", ...args], { JWT_SECRET: TEST_SECRET });
    expect(await group.exit()).toBe(0);
    expect(group.stderr).toBe("");
    expect(group.stdout).toMatch(/^\S+\n$/);
    const token = group.stdout.trim();
    const socket = open(inject("serverUrl"), { path: "/rooms/lobby/socket.io", auth: { token } });
    expect(await next(socket, "welcome")).toMatchObject({ user: "ada", name: "Ada Λ", role: "moderator" });
    const elsewhere = open(inject("serverUrl"), { path: "/rooms/other/socket.io", auth: { token } });
    expect(await next(elsewhere, "connect_error")).toMatchObject({ data: { code: "FORBIDDEN_ROOM" } });
  });

  it("without a user: usage, and exit code 1", async () => {
    const group = command(["token"], { JWT_SECRET: TEST_SECRET });
    expect(await group.exit()).toBe(1);
    expect(group.stdout).toBe("");
    expect(group.stderr).toMatch(/^--user is missing\.\nUsage: npm run token -- --user ada/);
  });
});

/** When each file of dist/client was written. */
const stamps = (): unknown[] =>
  readdirSync(BUILT, { recursive: true, encoding: "utf8" })
    .toSorted()
    .map((name) => {
      const { ino, mtimeNs } = statSync(path.join(BUILT, name), { bigint: true });
      return [name, ino, mtimeNs];
    });

// Where nobody knows that the page is there, each server that is started builds it, and others serve the same files meanwhile.
it("a build of the same sources writes no file of the page; npm run build and npm run fuzz change no tracked file; fuzz takes one target, and lists them", async () => {
  const status = (): string => execFileSync("git", ["status", "--porcelain"], { cwd: PROJECT_ROOT, encoding: "utf8" });
  const before = [status(), stamps()];
  rmSync(NOTE, { force: true });
  const [build, fuzz] = [
    command(["build", "--size"]),
    command(["fuzz", "file-key", "--seconds", "0.1", "--seed", "1"]),
  ];
  for (const group of [build, fuzz]) expect(await group.exit(), group.output).toBe(0);
  expect(fuzz.stdout).toMatch(/^file-key: \d+ executions, .*\n\d+ executions, 0 failures$/m);
  const odd = command(["fuzz", "everything"]);
  expect(await odd.exit()).toBe(2);
  expect(odd.stderr).toMatch(/There is no target "everything"; there are engine-frame, /);
  expect([status(), stamps()]).toEqual(before);
});

describe("the first command of a clone", () => {
  /** A project whose packages are missing, and an npm that is a shell script of the test. */
  function freshClone(npm: string): { run: string; env: Record<string, string> } {
    const root = mkdtempSync(path.join(scratch, "clone-"));
    mkdirSync(path.join(root, "bin"));
    for (const file of ["run.mjs", "install.mjs"]) {
      cpSync(path.join(PROJECT_ROOT, "scripts", file), path.join(root, "scripts", file));
    }
    cpSync(path.join(PROJECT_ROOT, "package-lock.json"), path.join(root, "package-lock.json"));
    writeFileSync(path.join(root, "bin", "npm"), `#!/bin/sh\n${npm}\n`);
    chmodSync(path.join(root, "bin", "npm"), 0o755);
    return {
      run: path.join(root, "scripts", "run.mjs"),
      env: { PATH: `${path.join(root, "bin")}${path.delimiter}${process.env["PATH"]}` },
    };
  }

  it("announces the installation and its duration at once, where stdout is not read by a program", async () => {
    const { run, env } = freshClone("sleep 60");
    const group = new ProcessGroup({ args: [run, "start"], env });
    started.push(group);
    await group.prints(/Installing packages, once: about 700 MB, a minute or two\. 0 s \.\.\.\n/);
    expect(group.stdout).toBe("");
    group.killAll();
  });

  it.each<[how: string, end: (group: ProcessGroup) => void]>([
    ["kill -TERM of npm", (group) => group.signal("SIGTERM")],
    ["Ctrl-C, which all of them hear", (group) => group.signalAll("SIGINT")],
  ])("ends during the installation: %s", async (_how, end) => {
    // Like npm, it takes a moment to put things back.
    const { run, env } = freshClone("trap 'sleep 0.5; exit 1' INT TERM; while :; do sleep 0.1; done");
    // A shell in place of npm: it ends at a SIGTERM and does not signal its children.
    const script = `'${process.execPath}' '${run}' start; exit`;
    const group = new ProcessGroup({
      program: "sh",
      args: ["-c", script],
      env: { ...env, npm_lifecycle_event: "start" },
    });
    started.push(group);
    await group.prints(/Installing packages/);
    end(group);
    await vi.waitFor(() => expect(group.members()).toEqual([]), { interval: 100 });
    expect(group.stderr).not.toContain("npm ci failed");
  });

  it("ends with npm's exit code when the installation fails", async () => {
    const { run, env } = freshClone("echo no network >&2; exit 7");
    const group = new ProcessGroup({ args: [run, "start"], env });
    expect(await group.exit()).toBe(7);
    expect(group.stderr).toMatch(/no network\nnpm ci failed/);
  });
});
