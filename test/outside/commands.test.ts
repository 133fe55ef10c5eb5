// `npm start` and `npm run token` as a person at a terminal meets them.
import { readFileSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, inject, it, vi } from "vitest";

import { freePort, HOST, isListening, ProcessGroup, TEST_SECRET } from "./servers.ts";
import { ask, join, next, open } from "./stock-clients.ts";

const started: ProcessGroup[] = [];
const stateDirs: string[] = [];

afterAll(async () => {
  await Promise.all(started.splice(0).map((group) => group.stop()));
  for (const dir of stateDirs.splice(0)) rmSync(dir, { recursive: true, force: true });
});

/** The program of `npm start`. */
function start(env: Record<string, string>): ProcessGroup {
  const stateDir = mkdtempSync(path.join(tmpdir(), "parley-state-"));
  stateDirs.push(stateDir);
  const group = new ProcessGroup({ args: [path.join("scripts", "run.mjs"), "start", "--state", stateDir], env });
  started.push(group);
  return group;
}

/** Everything that the command started ends by a signal to its first process. */
async function endBy(signal: NodeJS.Signals, group: ProcessGroup, port: number): Promise<void> {
  expect(await isListening(port)).toBe(true);
  expect(group.members().length).toBeGreaterThan(2);
  group.signal(signal);
  await vi.waitFor(() => expect(group.members()).toEqual([]), { interval: 100 });
  expect(await isListening(port)).toBe(false);
}

// Servers take a while to begin and to end: all at once, and each serves for several questions.
describe.concurrent("npm start", () => {
  it("prints the Ready line and nothing else; settings of the environment count; SIGTERM ends it", async () => {
    const port = await freePort();
    const devVars = path.join(import.meta.dirname, "..", "..", ".dev.vars");
    const group = start({ PORT: String(port), JWT_SECRET: TEST_SECRET, MAX_CONTENT_LENGTH: "77" });
    await group.prints(/\n/);
    const ada = await join(`http://${HOST}:${port}`, "lobby", "ada");
    ada.disconnect();
    ada.connect();
    // A token signed with the environment's secret was accepted, regardless of .dev.vars.
    expect(readFileSync(devVars, "utf8")).not.toContain(TEST_SECRET);
    expect(await next(ada, "welcome")).toMatchObject({ settings: { maxContentLength: 77 } });
    expect(await ask(ada, "chat-message", { content: "x".repeat(78) })).toMatchObject({ error: { code: "TOO_LONG" } });
    ada.disconnect();
    await endBy("SIGTERM", group, port);
    expect(group.stdout).toBe(`Ready on http://${HOST}:${port}\n`);
    expect(group.stderr).toBe("");
  });

  it("LOG_LEVEL=debug logs more than warnings; SIGINT ends it", async () => {
    const port = await freePort();
    const group = start({ PORT: String(port), JWT_SECRET: TEST_SECRET, LOG_LEVEL: "debug" });
    await group.prints(/Ready on/);
    const ada = await join(`http://${HOST}:${port}`, "lobby", "ada");
    await group.prints(/{"level":"debug","event":"room\.woke","room":"lobby"/);
    ada.disconnect();
    await endBy("SIGINT", group, port);
  });

  it("SIGKILL ends everything that it started", async () => {
    const port = await freePort();
    const group = start({ PORT: String(port) });
    await group.prints(/Ready on/);
    await endBy("SIGKILL", group, port);
    expect(group.stderr).toBe("");
  });

  it("a port in use: suggests another one", async () => {
    const port = await freePort();
    const squatter = createServer().listen(port, HOST);
    const group = start({ PORT: String(port) });
    expect(await group.exit()).toBe(1);
    expect(group.stdout).toBe("");
    expect(group.stderr).toMatch(new RegExp(`^Port ${port} is in use.*PORT=\\d+ npm start\\n$`));
    await new Promise((resolve) => squatter.close(resolve));
  });

  it.each<[string, Record<string, string>, RegExp]>([
    ["PORT=abc", { PORT: "abc" }, /^PORT must be a number from 1 to 65535, not "abc"\.\n$/],
    ["PORT=70000", { PORT: "70000" }, /^PORT must be/],
    ["PING_INTERVAL_MS=soon", { PING_INTERVAL_MS: "soon" }, /PING_INTERVAL_MS: must be a whole number/],
    ["ALLOWED_ORIGINS=nonsense", { ALLOWED_ORIGINS: "nonsense" }, /ALLOWED_ORIGINS: must be \*/],
  ])("%s: ends at once and names it", async (_what, env, problem) => {
    const group = start({ PORT: String(await freePort()), ...env });
    expect(await group.exit()).toBe(1);
    expect(group.stdout).toBe("");
    expect(group.stderr).toMatch(problem);
    // A person reads this: no stack.
    expect(group.stderr).not.toMatch(/^ +at /m);
  });

  it("names every bad setting, not only the first", async () => {
    const group = start({ MESSAGE_RATE: "fast", MAX_PAYLOAD: "1" });
    expect(await group.exit()).toBe(1);
    expect(group.stderr).toContain("MESSAGE_RATE");
    expect(group.stderr).toContain("MAX_PAYLOAD");
  });
});

describe.concurrent("npm run token", () => {
  const run = (...args: string[]): ProcessGroup => {
    const group = new ProcessGroup({
      args: [path.join("scripts", "token.ts"), ...args],
      env: { JWT_SECRET: TEST_SECRET },
    });
    started.push(group);
    return group;
  };

  it("prints a token that the local server accepts", async () => {
    const group = run("--user", "ada", "--name", "Ada Λ", "--role", "moderator", "--room", "lobby", "--ttl", "5m");
    expect(await group.exit()).toBe(0);
    expect(group.stderr).toBe("");
    expect(group.stdout).toMatch(/^\S+\n$/);
    const token = group.stdout.trim();
    const socket = open(inject("serverUrl"), { path: "/rooms/lobby/socket.io", auth: { token } });
    expect(await next(socket, "welcome")).toMatchObject({ user: "ada", name: "Ada Λ", role: "moderator" });
    const elsewhere = open(inject("serverUrl"), { path: "/rooms/other/socket.io", auth: { token } });
    expect(await next(elsewhere, "connect_error")).toMatchObject({ data: { code: "FORBIDDEN_ROOM" } });
  });

  it.each<[string, string[]]>([
    ["no user", []],
    ["an unknown flag", ["--user", "ada", "--admin"]],
    ["an unknown role", ["--user", "ada", "--role", "king"]],
    ["a time without a unit", ["--user", "ada", "--ttl", "60"]],
    ["no value", ["--user"]],
    ["a stray word", ["--user", "ada", "ben"]],
  ])("%s: usage, and exit code 1", async (_what, args) => {
    const group = run(...args);
    expect(await group.exit()).toBe(1);
    expect(group.stdout).toBe("");
    expect(group.stderr).toMatch(/\nUsage: npm run token -- --user ada/);
    expect(group.stderr).not.toMatch(/^ +at /m);
  });

  it.each<[string, string[]]>([
    ["a user id of 129 characters", ["--user", "x".repeat(129)]],
    ["a room name that is none", ["--user", "ada", "--room", "no spaces"]],
    ["a time of nothing", ["--user", "ada", "--ttl", "0s"]],
  ])("%s: no token that no server would accept", async (_what, args) => {
    const group = run(...args);
    expect(await group.exit()).toBe(1);
    expect(group.stdout).toBe("");
    expect(group.stderr).toContain("Usage:");
  });
});
