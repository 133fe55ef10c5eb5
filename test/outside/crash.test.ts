// `npm run crash` in its shortest form, against the server of `npm run serve`: the long one is docs/reliability.md's.
import path from "node:path";
import { describe, expect, it } from "vitest";

import { ProcessGroup } from "./servers.ts";

const run = (script: string, ...args: string[]): ProcessGroup =>
  new ProcessGroup({ args: [path.join("scripts", script), ...args] });

// Each waits more than it works: all at once.
describe.concurrent("npm run crash", () => {
  it("kills the server under load, and finds every acked message once", async () => {
    const group = run("crash.ts", "--rounds", "1", "--seed", "8");
    expect(await group.exit(), group.output).toBe(0);
    expect(group.stdout).toMatch(/^round 1: killed under load.* all quiet/m);
    expect(group.stdout).toMatch(/^dead letters 0, wrong 0$/m);
    expect(Number(/^acked (\d+)/m.exec(group.stdout)?.[1])).toBeGreaterThan(10);
  });

  it.each([
    [["--rounds", "0"], /--rounds must be a whole number from 1/],
    [["--relay", "off"], /--relay must be direct or queue/],
  ])("says what is wrong with %j", async (args, message) => {
    const group = run("crash.ts", ...args);
    expect(await group.exit()).toBe(2);
    expect(group.stderr).toMatch(message);
  });
});

describe.concurrent("npm run drain", () => {
  it("disconnects all clients, and all recover everything", async () => {
    const group = run("drain.ts", "--guests", "40", "--rooms", "2", "--within", "2000");
    expect(await group.exit(), group.output).toBe(0);
    expect(group.stdout).toMatch(/ 0 lost, 0 doubled, 0 clients not back$/m);
  });
});

describe.concurrent("npm run fuzz", () => {
  it("fuzzes one target, and lists the targets", async () => {
    const group = run("fuzz.ts", "file-key", "--seconds", "1", "--seed", "1");
    expect(await group.exit(), group.output).toBe(0);
    expect(group.stdout).toMatch(/^file-key: \d+ executions, .*\n\d+ executions, 0 failures$/m);
    const odd = run("fuzz.ts", "everything");
    expect(await odd.exit()).toBe(2);
    expect(odd.stderr).toMatch(/There is no target "everything"; there are engine-frame, /);
  });
});
