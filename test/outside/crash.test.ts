// `npm run crash` in its shortest form, against the server of `npm run serve`: the long one is docs/reliability.md's.
import path from "node:path";
import { describe, expect, it } from "vitest";

import { ProcessGroup } from "./servers.ts";

const run = (name: string, ...args: string[]): ProcessGroup =>
  new ProcessGroup({ args: [path.join("scripts", "run.mjs"), name, ...args] });

// Each waits more than it works: all at once.
describe.concurrent("npm run crash", () => {
  it("kills the server under load, and finds every acked message once", async () => {
    const group = run("crash", "--rounds", "1", "--seed", "8");
    expect(await group.exit(), group.output).toBe(0);
    expect(group.stdout).toMatch(/^round 1: killed under load.*; all back/m);
    expect(group.stdout).toMatch(/\nNo acked message was lost, and nothing was doubled\.\n$/);
    expect(Number(/(\d+) messages found in the histories of 4 rooms\./.exec(group.stdout)?.[1])).toBeGreaterThan(10);
  });

  it("names a bad option", async () => {
    const group = run("crash", "--rounds", "0");
    expect(await group.exit()).toBe(2);
    expect(group.stderr).toMatch(/^--rounds must be a number from 1 to 10000, not "0"\.\nUsage: npm run crash/);
  });
});

describe.concurrent("npm run fuzz", () => {
  it("fuzzes one target, and lists the targets", async () => {
    const group = run("fuzz", "file-key", "--seconds", "1", "--seed", "1");
    expect(await group.exit(), group.output).toBe(0);
    expect(group.stdout).toMatch(/^file-key: \d+ executions, .*\n\d+ executions, 0 failures$/m);
    const odd = run("fuzz", "everything");
    expect(await odd.exit()).toBe(2);
    expect(odd.stderr).toMatch(/There is no target "everything"; there are engine-frame, /);
  });
});
