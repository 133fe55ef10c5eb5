// Rooms that sleep between the pings of stock clients, on a real server: clients stay, and no message is lost; and the causes of wakes in its log:
// heartbeats wake a room, reading metrics does not, and after an operator has left the room sleeps as before. MET-1, WATCH-2
import { afterAll, beforeAll, expect, it, vi } from "vitest";

import type { HistoryAnswer, Message } from "../../src/protocol/chat-events.ts";
import { startServer, type TestServer } from "./servers.ts";
import { ask, collect, join, next, open, tokenFor } from "./stock-clients.ts";
import type { Socket } from "socket.io-client";

/** Longer than the platform's 10 s of quiet, after which a room may sleep. */
const PING_INTERVAL_MS = 13_000;
const ROOM = "woken";
const WAIT = { interval: 200 };

let server: TestServer;
beforeAll(async () => {
  const settings = { PING_INTERVAL_MS: String(PING_INTERVAL_MS), PING_TIMEOUT_MS: "60000", LOG_LEVEL: "debug" };
  server = await startServer({ settings });
});
afterAll(() => server?.stop());

/** `cause,detail` of each wake so far. */
const wakes = (): string[] =>
  [...server.output.matchAll(/"event":"room\.woke","room":"woken","cause":"(\w+)","detail":"([^"]*)"/g)].map(
    ([, cause, detail]) => `${cause},${detail}`,
  );

const PINGED = "alarm,ping";
const pingWakes = (): number => wakes().filter((wake) => wake === PINGED).length;
const others = (): string[] => wakes().filter((wake) => !wake.startsWith("alarm,"));

async function sleepsAgain(): Promise<void> {
  const before = pingWakes();
  await vi.waitFor(() => expect(pingWakes()).toBeGreaterThan(before), WAIT);
}

it.concurrent("counts wakes by heartbeats and by connects, and none by reading requests", async () => {
  const ada = await join(server.url, ROOM, "ada");
  await ask(ada, "chat-message", { content: "hello" });
  await sleepsAgain();
  expect(others()).toEqual(["connect,websocket"]);

  const token = await tokenFor("olga", { role: "service" });
  const headers = { Authorization: `Bearer ${token}` };
  for (const address of ["/metrics", "/api/stats", "/api/rooms", "/metrics"])
    expect((await fetch(server.url + address, { headers })).status).toBe(200);
  await sleepsAgain();
  expect(others()).toEqual(["connect,websocket"]);

  const watcher = open(`${server.url}/admin`, {
    path: `/rooms/${ROOM}/socket.io`,
    query: { watch: "1" },
    auth: { token },
  });
  await next(watcher, "watch");
  watcher.disconnect();
  await sleepsAgain();
  // Whether the room was asleep when she came and went is chance.
  for (const wake of others().slice(1)) expect(wake).toMatch(/^watch,/);
  expect(ada.connected).toBe(true);
  for (const secret of [token, token.split(".")[2]!, "hello"]) expect(server.output).not.toContain(secret);
});

it.concurrent("stock clients stay connected to a room that falls asleep between pings", async () => {
  const INTERVALS = 5;
  const members = [await join(server.url, "quiet", "ada"), await join(server.url, "quiet", "ben")];
  const disconnects = members.map((socket) => collect(socket, "disconnect"));
  const pings = members.map((socket) => {
    const times: number[] = [];
    socket.io.on("ping", () => times.push(Date.now()));
    return times;
  });
  const [ada] = members as [Socket, Socket];
  expect(await ask(ada, "chat-message", { content: "good night" })).toMatchObject({ seq: 1 });

  await vi.waitFor(() => expect(Math.min(...pings.map(({ length }) => length))).toBeGreaterThanOrEqual(INTERVALS), {
    interval: 250,
  });
  expect(disconnects).toEqual([[], []]);
  const heard = members.map((socket) => next<Message>(socket, "chat-message"));
  expect(await ask(ada, "chat-message", { content: "good morning" })).toMatchObject({ ok: true, seq: 2 });
  expect(await Promise.all(heard)).toMatchObject([{ seq: 2 }, { seq: 2, content: "good morning" }]);
  const history = await ask<HistoryAnswer>(ada, "history", {});
  expect("messages" in history && history.messages.map(({ content }) => content)).toEqual([
    "good night",
    "good morning",
  ]);
});
