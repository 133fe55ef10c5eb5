// `npx parley-rooms` as a command: its output and exit codes.
import { execFile } from "node:child_process";
import path from "node:path";

import { describe, expect, it, onTestFinished, vi } from "vitest";

import { token, tokenFrom } from "../../../scripts/command/token.ts";
import { doctor } from "../../../scripts/doctor/command.ts";
import { readSettings, type Settings } from "../../../src/settings/settings.ts";
import { folderOf } from "../worker-folder.ts";

const ROOT = path.join(import.meta.dirname, "../../..");
const MAIN = path.join(ROOT, "scripts/command/main.ts");

interface Ran {
  readonly status: number;
  readonly out: string;
  readonly error: string;
}

function run(args: readonly string[], cwd: string, env: Readonly<Record<string, string>> = {}): Promise<Ran> {
  return new Promise((resolve) => {
    execFile(process.execPath, [MAIN, ...args], { cwd, env: { ...process.env, ...env } }, (failed, out, error) =>
      resolve({ status: failed ? Number(failed.code) : 0, out, error }),
    );
  });
}

describe.concurrent("arguments", () => {
  it.each([
    [["--help"], 0, /^Usage: npx parley-rooms COMMAND/],
    [["toString"], 2, /^There is no command "toString"/],
  ])("%j: explains itself", async (args, expected, text) => {
    const { status, out, error } = await run(args, ROOT);
    expect(status).toBe(expected);
    expect(out + error).toMatch(text);
  });

  it("of the doctor are one folder at most, and its options and those of a token have to be known", async () => {
    await expect(doctor(["a", "b"])).rejects.toThrow(/^There is one folder, not 2/);
    await expect(doctor(["--deep"])).rejects.toThrow(/^Unknown option '--deep'/);
    await expect(token(["--colour"])).rejects.toThrow(/^Unknown option '--colour'/);
  });
});

describe("doctor", () => {
  it("prints its findings, and ends with 1 if one is an error", async () => {
    const { status, out } = await run(["doctor"], folderOf({}));
    expect(status).toBe(1);
    expect(out).toMatch(/error +There is no wrangler\.toml, wrangler\.jsonc, wrangler\.json in/);
    expect(out).toContain("1 error, 0 warnings, 0 notes");
  });

  it("prints JSON for programs", async () => {
    const written = vi.spyOn(process.stdout, "write").mockReturnValue(true);
    onTestFinished(() => written.mockRestore());
    expect(await doctor([folderOf({}), "--json"])).toBe(1);
    expect(JSON.parse(written.mock.calls.join(""))).toEqual({
      ok: false,
      findings: [{ level: "error", code: "project.unreadable", message: expect.any(String) }],
    });
  });
});

describe("token", () => {
  const settings = (): Settings => {
    const result = readSettings({ JWT_SECRET: "s".repeat(40) });
    if (!result.ok) throw new Error(result.problems.join());
    return result.settings;
  };
  const claimsOf = (token: string): unknown =>
    JSON.parse(Buffer.from(token.trim().split(".")[1]!, "base64url").toString());

  it("is signed with the secret of the environment, outside a project, too", async () => {
    const { out } = await run(["token", "--user", "ada"], folderOf({}), { JWT_SECRET: "s".repeat(40) });
    expect(claimsOf(out)).toMatchObject({ sub: "ada", role: "member" });
  });

  it("is not made without a secret; --help explains it", async () => {
    const [written, complained] = [vi.spyOn(process.stdout, "write"), vi.spyOn(console, "error")];
    const here = vi.spyOn(process, "cwd").mockReturnValue(folderOf({}));
    onTestFinished(() => [written, complained, here].forEach((spy) => spy.mockRestore()));
    written.mockReturnValue(true);
    complained.mockReturnValue();
    expect(await token(["--user", "ada"])).toBe(1);
    expect(complained.mock.calls.join()).toMatch(/no wrangler\.toml/);
    expect(await token(["--help"])).toBe(0);
    expect(written.mock.calls.join()).toMatch(/^Usage: npx parley-rooms token/);
  });

  it.each<[string, string[], RegExp]>([
    ["without a user", [], /--user is missing/],
    ["for a role that is none", ["--user", "ada", "--role", "king"], /--role must be one of/],
    ["for a time without a unit", ["--user", "ada", "--ttl", "60"], /--ttl must be a number with s, m, h or d/],
    ["for a time of nothing", ["--user", "ada", "--ttl", "0s"], /No server would accept this token/],
    ["for a stray word", ["--user", "ada", "ben"], /Unexpected argument 'ben'/],
    ["for a user id of 129 characters", ["--user", "x".repeat(129)], /No server would accept this token/],
    ["for a room name that is none", ["--user", "ada", "--room", "no spaces"], /no room name/],
  ])("is not made %s", async (_what, args, message) => {
    await expect(tokenFrom(args, settings)).rejects.toThrow(message);
  });
});
