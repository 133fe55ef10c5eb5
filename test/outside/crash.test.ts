// `npm run crash` in its shortest form, against the server of `npm run serve`: the long one is docs/reliability.md's. And `npm run bench` in the
// smallest form that goes all the way: this project alone, so that nothing has to be installed.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, it } from "vitest";

import { ProcessGroup } from "./servers.ts";

const scratch = mkdtempSync(path.join(tmpdir(), "parley-bench-test-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

it("npm run crash kills the server under load, and finds every acked message once", async () => {
  const group = new ProcessGroup({ args: [path.join("scripts", "run.mjs"), "crash", "--rounds", "1", "--seed", "8"] });
  expect(await group.exit(), group.output).toBe(0);
  expect(group.stdout).toMatch(/^round 1: killed under load.*; all back/m);
  expect(group.stdout).toMatch(/\nNo acked message was lost, and nothing was doubled\.\n$/);
  expect(Number(/(\d+) messages found in the histories of 4 rooms\./.exec(group.stdout)?.[1])).toBeGreaterThan(10);
});

it.runIf(process.platform === "linux")(
  "npm run bench measures, counts faults, and writes what it measured",
  async () => {
    const file = path.join(scratch, "echo.json");
    const args = ["bench", "echo", "--quick", "--peers", "parley", "--json", file];
    const group = new ProcessGroup({ args: [path.join("scripts", "run.mjs"), ...args] });
    expect(await group.exit(), group.output).toBe(0);
    expect(group.stdout).toMatch(/^\| echo, quick look +\| ack p50 ms/m);
    expect(group.stdout).toMatch(/^\| Parley, stock clients.*\| 0 +\|$/m);
    const { machine, outcomes } = JSON.parse(readFileSync(file, "utf8")) as { machine: object; outcomes: object[] };
    expect(machine).toMatchObject({ versions: { node: expect.stringMatching(/^24\./), workerd: expect.any(String) } });
    expect(outcomes).toMatchObject([
      { run: "echo, quick look", peer: "parley", verdict: "ok", reading: { server: "parley" } },
    ]);
  },
);
