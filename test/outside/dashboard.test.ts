// The dashboard's queries and the alert rules in a real Prometheus, which scrapes a real server after some traffic: each is
// answered, and none with nothing. MET-1
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, inject, it, vi } from "vitest";

import { freePort, HOST, PROJECT_ROOT } from "./servers.ts";
import { ask, join, open, tokenFor } from "./stock-clients.ts";

const OPS = path.join(PROJECT_ROOT, "scripts", "ops");
const WAIT = { interval: 1000 };
const isMissing = spawnSync("prometheus", ["--version"]).error !== undefined;

const scratch = mkdtempSync(path.join(tmpdir(), "parley-prometheus-"));
const ends: Array<() => void> = [];
afterAll(() => {
  for (const end of ends) end();
  rmSync(scratch, { recursive: true, force: true });
});

/** Produces some of each series of the dashboard, except those of a broken server. */
async function makeTraffic(url: string): Promise<void> {
  const room = `watched-${Date.now()}`;
  const ada = await join(url, room, "ada", { reconnection: false });
  const ben = await join(url, room, "ben", { reconnection: false, transports: ["polling"] });
  expect(await ask(ada, "chat-message", { content: "hello" })).toMatchObject({ ok: true });
  await ask(ada, "chat-message", { content: "" });
  const stranger = open(url, { path: `/rooms/${room}/socket.io`, auth: { token: "nonsense" } });
  await new Promise((resolve) => stranger.once("connect_error", resolve));
  expect((await fetch(`${url}/socket.io/?EIO=4&transport=pigeon`)).status).toBe(400);
  const token = await tokenFor("backend", { role: "service" });
  const posted = await fetch(`${url}/api/rooms/${room}-2/messages`, {
    method: "POST",
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    body: JSON.stringify({ content: "hello" }),
  });
  expect(posted.ok).toBe(true);
  for (const socket of [ada, ben, stranger]) socket.close();
}

/** @returns where it answers */
async function startPrometheus(url: string): Promise<string> {
  const port = await freePort();
  const config = path.join(scratch, "prometheus.yml");
  const every = "{ scrape_interval: 1s, evaluation_interval: 1s }";
  const job = `{ job_name: parley, static_configs: [{ targets: ["${new URL(url).host}"] }] }`;
  const rules = path.join(OPS, "alerts.yml");
  writeFileSync(config, `global: ${every}\nrule_files: ["${rules}"]\nscrape_configs: [${job}]\n`);
  const args = [`--config.file=${config}`, `--storage.tsdb.path=${path.join(scratch, "data")}`, "--log.level=error"];
  const prometheus = spawn("prometheus", [...args, `--web.listen-address=${HOST}:${port}`], { stdio: "ignore" });
  ends.push(() => prometheus.kill("SIGKILL"));
  return `http://${HOST}:${port}`;
}

interface Panel {
  readonly title: string;
  readonly targets?: ReadonlyArray<{ readonly expr: string }>;
}

interface Answer<Data> {
  readonly status: string;
  readonly error?: string;
  readonly data: Data;
}

it("Prometheus answers every query of the dashboard and accepts every alert", async (ctx) => {
  ctx.skip(isMissing, "no prometheus on this machine");
  const url = inject("serverUrl");
  await makeTraffic(url);
  const prometheus = await startPrometheus(url);
  const get = async <Data>(address: string): Promise<Answer<Data>> =>
    (await fetch(`${prometheus}/api/v1/${address}`)).json() as Promise<Answer<Data>>;
  const { panels } = JSON.parse(readFileSync(path.join(OPS, "dashboard.json"), "utf8")) as { panels: Panel[] };
  const queries = panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })));
  expect(queries.length).toBeGreaterThan(40);

  let silent = queries;
  await vi.waitFor(async () => {
    const heard = await Promise.all(
      silent.map(async (query) => {
        const expr = query.expr.replaceAll("$__rate_interval", "1m");
        const { status, error, data } = await get<{ result: unknown[] }>(`query?query=${encodeURIComponent(expr)}`);
        expect([status, error], query.expr).toEqual(["success", undefined]);
        return { query, isHeard: data.result.length > 0 };
      }),
    );
    silent = heard.filter(({ isHeard }) => !isHeard).map(({ query }) => query);
    expect(silent).toEqual([]);
  }, WAIT);

  await vi.waitFor(async () => {
    const { data } = await get<{ groups: ReadonlyArray<{ rules: object[] }> }>("rules?type=alert");
    const rules = data.groups.flatMap((group) => group.rules);
    expect(rules.length).toBeGreaterThan(10);
    for (const rule of rules) expect(rule).toMatchObject({ health: "ok" });
  }, WAIT);
  const { data } = await get<{ activeTargets: object[] }>("targets");
  expect(data.activeTargets).toMatchObject([{ health: "up", lastError: "" }]);
});
