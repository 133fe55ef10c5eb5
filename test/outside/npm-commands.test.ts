// The npm commands as such: each shows its help, names an unknown option and its port, leaves the tree as it was, and ends with all that it started.
import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it, vi } from "vitest";

import { freePort, HOST, isListening, ProcessGroup, PROJECT_ROOT } from "./servers.ts";

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

describe.concurrent("--help", () => {
  it.each(NAMES)("of %s prints usage and duration, and does nothing else", async (name) => {
    expect(scripts[name]).toBe(`node scripts/run.mjs ${name}`);
    const group = command([name, "--help"]);
    expect(await group.exit()).toBe(0);
    expect(group.stdout).toMatch(new RegExp(`^Usage: npm (run )?${name}\\b`));
    expect(group.stdout).toMatch(/\b(seconds?|minutes?|hours?)\b/);
    expect(group.stderr).toBe("");
  });

  it("works through npm", async () => {
    const group = new ProcessGroup({ program: "npm", args: ["run", "--silent", "fuzz", "--", "--help"] });
    expect(await group.exit()).toBe(0);
    expect(group.stdout).toContain("per target");
  });
});

it("an unknown command fails with the list of commands", async () => {
  const group = command(["sevre"]);
  expect(await group.exit()).toBe(2);
  expect(group.stderr).toMatch(/no command "sevre"; there are start, test, .*serve/);
});

describe.concurrent("an unknown option", () => {
  it.each(["start", "test", "check", "build", "screenshots", "simulate", "race"])(
    "of %s is named, with the usage",
    async (name) => {
      const group = command([name, "--port", "8799"]);
      expect(await group.exit()).toBe(1);
      expect(group.stderr).toMatch(new RegExp(`^Unknown option '--port'.*\nUsage: npm (run )?${name}\\b`));
      expect(group.stderr).not.toMatch(/^ +at /m);
      expect(group.stdout).toBe("");
    },
  );
});

describe.concurrent("PORT", () => {
  it.each(["tour", "load"])("is where %s looks for a server", async (name) => {
    const port = await freePort();
    const group = command([name], { PORT: String(port) });
    expect(await group.exit()).toBe(1);
    expect(group.stderr).toContain(`http://${HOST}:${port}`);
  });

  it.each(["start", "serve", "tour", "load", "race"])("of %s that is none is named", async (name) => {
    const group = command([name], { PORT: "abc" });
    expect(await group.exit()).toBe(1);
    expect(group.stderr).toContain('PORT must be a number from 1 to 65535, not "abc".');
  });
});

const ENDS: Array<[how: string, end: (group: ProcessGroup) => void]> = [
  ["kill -TERM of npm", (group) => group.signal("SIGTERM")],
  ["Ctrl-C, which all of them hear", (group) => group.signalAll("SIGINT")],
];

describe.concurrent("all processes that npm started end with it", () => {
  it.each(["start", "serve"].flatMap((name) => ENDS.map((end) => [name, ...end] as const)))(
    "%s: %s",
    async (name, _how, end) => {
      const port = await freePort();
      const state = mkdtempSync(path.join(scratch, "state-"));
      const group = new ProcessGroup({
        program: "npm",
        args: ["run", "--silent", name, "--", "--state", state],
        env: { PORT: String(port), JWT_SECRET: "a-secret-of-these-tests-that-is-long-enough" },
      });
      started.push(group);
      await group.prints(/Ready on/);
      expect(group.members().length).toBeGreaterThan(3);
      end(group);
      await vi.waitFor(() => expect(group.members()).toEqual([]), { interval: 100 });
      expect(await isListening(port)).toBe(false);
    },
  );
});

it("commands change no tracked file", async () => {
  const status = (): string => execFileSync("git", ["status", "--porcelain"], { cwd: PROJECT_ROOT, encoding: "utf8" });
  const before = status();
  const quick = [["build", "--size"], ["token", "--user", "ada"], ["cost"], ["fuzz", "--seconds", "0.01"]];
  for (const args of quick) {
    const group = command(args, { JWT_SECRET: "a-secret-of-these-tests-that-is-long-enough" });
    expect(await group.exit(), group.output).toBe(0);
  }
  expect(status()).toBe(before);
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

  it.each(ENDS)("ends during the installation: %s", async (_how, end) => {
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
