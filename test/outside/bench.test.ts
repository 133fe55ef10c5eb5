// `npm run bench` in the smallest form that goes all the way: this project alone, so that nothing has to be installed.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";

import { ProcessGroup } from "./servers.ts";

const scratch = mkdtempSync(path.join(tmpdir(), "parley-bench-test-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const bench = (...args: string[]): ProcessGroup =>
  new ProcessGroup({ args: [path.join("scripts", "run.mjs"), "bench", ...args] });

describe("npm run bench", () => {
  it.runIf(process.platform === "linux")("measures, counts faults, and writes what it measured", async () => {
    const file = path.join(scratch, "echo.json");
    const group = bench("echo", "--quick", "--peers", "parley", "--json", file);
    expect(await group.exit(), group.output).toBe(0);
    expect(group.stdout).toMatch(/^\| echo, quick look +\| ack p50 ms/m);
    expect(group.stdout).toMatch(/^\| Parley, stock clients.*\| 0 +\|$/m);
    const { machine, outcomes } = JSON.parse(readFileSync(file, "utf8")) as { machine: object; outcomes: object[] };
    expect(machine).toMatchObject({ versions: { node: expect.stringMatching(/^24\./), workerd: expect.any(String) } });
    expect(outcomes).toMatchObject([
      { run: "echo, quick look", peer: "parley", verdict: "ok", reading: { server: "parley" } },
    ]);
  });

  it("lists its scenarios when the name is unknown", async () => {
    const group = bench("speed");
    expect(await group.exit()).toBe(1);
    expect(group.output).toMatch(/^There is no scenario "speed"; there are busy, .*rooms, .*\nUsage: npm run bench/);
  });
});
