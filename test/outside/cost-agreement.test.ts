// `npm run cost -- --from`: compares the model's prediction of a load test with the server's counters, line by line.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";

import type { CostReport } from "../../scripts/cost/text.ts";
import { ProcessGroup, startServer, TEST_SECRET, type TestServer } from "./servers.ts";

/** Shorter than the default, so that rooms report soon; long enough for an alarm. */
const PING_INTERVAL_SECONDS = 10;
const DEVIATION_MAX = 0.05;
/** Of a line that counts few. */
const EVENTS_MAX = 2;
/** Standard deviations of random counts, as in the model: a room pings all of its clients at a moment of its own. */
const SPREADS_MAX = 3;
/** A machine that has much else to do makes connects wait, which sets alarms, and batches larger. */
const TRIES = 3;

const scratch = mkdtempSync(path.join(tmpdir(), "parley-agreement-"));
let server: TestServer;
beforeAll(async () => {
  server = await startServer({ settings: { PING_INTERVAL_MS: String(PING_INTERVAL_SECONDS * 1000) } });
  // The first rooms of a server wait until its code is there.
  await run("warm-up", "--users", "4", "--rooms", "2", "--duration", "2");
});
afterAll(async () => {
  await server?.stop();
  rmSync(scratch, { recursive: true, force: true });
});

async function command(...args: string[]): Promise<ProcessGroup> {
  const group = new ProcessGroup({ args });
  expect(await group.exit(), group.output).toBe(0);
  return group;
}

async function run(name: string, ...args: string[]): Promise<string> {
  const file = path.join(scratch, `${name}.json`);
  const where = ["--url", server.url, "--token-secret", TEST_SECRET, "--room-prefix", name, "--json", file];
  await command(path.join("scripts", "run.mjs"), "load", ...where, ...args);
  return file;
}

async function agreement(name: string): Promise<CostReport["agreement"]> {
  // No change of a room falls upon the moment at which it would report anyway: 5, 15 and 35 s after its first.
  const talk = ["--users", "24", "--rooms", "8", "--rate", "0.5", "--duration", "10", "--connect-rate", "24"];
  const from = await run(name, ...talk, "--counts");
  const json = path.join(scratch, `${name}-cost.json`);
  const interval = ["--ping-interval-seconds", String(PING_INTERVAL_SECONDS)];
  await command(path.join("scripts", "cost.ts"), "--from", from, "--json", json, ...interval);
  return (JSON.parse(readFileSync(json, "utf8")) as CostReport).agreement;
}

it("predicts every line within 5 %, an event or two where few are counted, or what is chance", async () => {
  let off: CostReport["agreement"] = [];
  for (let tries = 1; tries <= TRIES; tries++) {
    const lines = await agreement(`agreed-${tries}`);
    const names = lines.map(({ what }) => what);
    expect(names).toEqual([
      "posts",
      "commits",
      "upgrades",
      "framesIn",
      "heartbeats",
      "alarms",
      "reports",
      "rowsWritten",
    ]);
    expect(lines.filter(({ by }) => by === "clients").map(({ what }) => what)).toEqual(["heartbeats"]);
    off = lines.filter(
      ({ predicted, spread, counted }) =>
        Math.abs(predicted - counted) > Math.max(EVENTS_MAX, DEVIATION_MAX * counted, SPREADS_MAX * spread),
    );
    if (off.length === 0) return;
  }
  expect(off).toEqual([]);
});
