// `/metrics` of a running server, after traffic, as Prometheus finds it: every query of the dashboard and of the alerts has
// something to read.
import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, inject, it, vi } from "vitest";

import { expositionOf } from "../host/exposition.ts";
import { PROJECT_ROOT } from "./servers.ts";
import { ask, join, tokenFor } from "./stock-clients.ts";

const ops = (file: string): string => readFileSync(path.join(PROJECT_ROOT, "scripts", "ops", file), "utf8");

it("shows the events of a room, and every series of the dashboard and the alerts: MET-1", async () => {
  const url = inject("serverUrl");
  const room = `metrics-${Date.now()}`;
  const scrape = async () => {
    const response = await fetch(`${url}/metrics`);
    expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    return expositionOf(await response.text());
  };
  // Other tests talk to this server, too, and louder.
  const postedBefore = (await scrape()).valueOf("parley_messages_posted_total") ?? 0;
  const ada = await join(url, room, "ada", { reconnection: false });
  const ben = await join(url, room, "ben", { reconnection: false, transports: ["polling"] });
  for (let i = 0; i < 3; i++) expect(await ask(ada, "chat-message", { content: `${i}` })).toMatchObject({ ok: true });
  await ask(ada, "chat-message", { content: "" });
  expect((await fetch(`${url}/socket.io/?EIO=4&transport=pigeon`)).status).toBe(400);
  const headers = { Authorization: `Bearer ${await tokenFor("backend", { role: "service" })}` };
  const stats = (await (await fetch(`${url}/api/rooms/${room}/stats`, { headers })).json()) as Record<string, unknown>;
  expect(stats).toMatchObject({ ok: true, room, members: 2, connectionCount: 2, use: { posted: 3 } });
  expect(stats["connections"]).toHaveLength(2);
  ada.close();
  ben.close();
  await vi.waitFor(
    async () =>
      expect((await scrape()).valueOf("parley_messages_posted_total") ?? 0).toBeGreaterThanOrEqual(postedBefore + 3),
    { interval: 500 },
  );
  const exposition = await scrape();
  const value = (name: string, labels?: Record<string, string>): number => exposition.valueOf(name, labels) ?? 0;
  expect(value("parley_connections_opened_total", { transport: "polling" })).toBeGreaterThan(0);
  expect(value("parley_upgrade_refusals_total", { code: "unknownTransport" })).toBeGreaterThan(0);
  expect(value("parley_http_requests_total", { route: "getRoomStats", status: "200" })).toBeGreaterThan(0);
  expect(value("parley_commit_seconds_count")).toBeGreaterThanOrEqual(3);
  expect(value("parley_delivery_seconds_count")).toBeGreaterThan(0);
  expect(value("parley_rows_written_total", { object: "lobby" })).toBeGreaterThan(0);
  const asked = [ops("dashboard.json"), ops("alerts.yml")].join("").match(/\bparley_\w+/g)!;
  const missing = asked.filter((name) => {
    const family = name.replace(/_(bucket|sum|count)$/, "");
    return !exposition.families.has(name) && !exposition.families.has(family);
  });
  expect(new Set(missing)).toEqual(new Set());
});
