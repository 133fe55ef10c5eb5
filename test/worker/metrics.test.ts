// GET /metrics over real objects: contents, no woken rooms, no count twice or lost in sleep. MET-1 to MET-5
import { evictDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";

import { ChatRoom } from "../../durable/chat-room.ts";
import { Lobby } from "../../src/features/directory/object.ts";
import { createParley } from "../../src/entries/bare.ts";
import { ANNOUNCE_VERSION, POSTED_EVENT, type AnnouncedHere } from "../../src/protocol/announcement.ts";
import { lobbyOf, type CounterDelta } from "../../src/protocol/room-list.ts";
import type { Bindings } from "../../src/rpc/bindings.ts";
import { OPEN_METRICS_EVERY_MS } from "../../src/worker/deployment.ts";
import { WorkerMeter } from "../../src/worker/metrics/worker-meter.ts";
import { callApi } from "../durable/api-caller.ts";
import { expositionOf, type Exposition } from "../host/exposition.ts";
import { ORIGIN, type UpgradeOptions } from "../durable/raw-client.ts";
import { freshRoom, isArmed, join, Sleeper, stubOf, workerWith } from "../durable/rooms.ts";
import { queriesMade } from "../durable/rows-written.ts";

type Fetcher = NonNullable<UpgradeOptions["fetcher"]>;

const lobby = () => env.LOBBY.getByName(lobbyOf("any", 1));

const get = (headers: Record<string, string> = {}, fetcher: Fetcher = exports.default): Response | Promise<Response> =>
  fetcher.fetch(new Request(new URL("/metrics", ORIGIN), { headers }));

const scrape = async (fetcher?: Fetcher): Promise<Exposition> => expositionOf(await (await get({}, fetcher)).text());

const post = (room: string) => callApi("POST", `/api/rooms/${room}/messages`, { body: { content: "hello" } });

/** Until the lobby has the room's last report. */
const shows = (family: string, labels: Record<string, string>, value: number): Promise<void> =>
  vi.waitFor(async () => expect((await scrape()).valueOf(family, labels)).toBe(value));

afterEach(() => vi.restoreAllMocks());

// The first test of this file: a busy lobby waits for more reports before it stores one.
it("MET-3: a count outlives the sleep of the lobby, and never becomes less", async () => {
  const room = freshRoom();
  await post(room);
  const postedIn = (exposition: Exposition) => exposition.valueOf("parley_top_room_messages_posted_total", { room });
  await vi.waitFor(async () => expect(postedIn(await scrape())).toBe(1), { interval: 200 });
  const before = (await scrape()).valueOf("parley_messages_posted_total")!;
  await evictDurableObject(lobby());
  const after = await scrape();
  expect(after.valueOf("parley_messages_posted_total")).toBe(before);
  expect(postedIn(after)).toBe(1);
});

it("MET-2: an alarm that a room sets before it falls asleep is counted", async () => {
  const room = freshRoom();
  const alarmsSet = async (): Promise<number> => (await scrape()).valueOf("parley_alarms_set_total") ?? 0;
  const before = await alarmsSet();
  const ada = await join(room, "ada");
  await isArmed(room);
  const sleeper = new Sleeper(room);
  await sleeper.sleep();
  await ada.ask("chat-message", { content: "hello" });
  ada.close();
  await vi.waitFor(async () => expect(await alarmsSet()).toBeGreaterThan(before), { interval: 200 });
});

describe("GET /metrics: MET-1", () => {
  it("is Prometheus text with the counters of rooms and of the Worker", async () => {
    const room = freshRoom();
    const ada = await join(room, "ada");
    await ada.ask("chat-message", { content: "" });
    expect(await ada.ask("chat-message", { content: "hello" })).toMatchObject({ ok: true });
    ada.close();
    await shows("parley_top_room_messages_posted_total", { room }, 1);
    const response = await get();
    expect(response.headers.get("Content-Type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    const exposition = expositionOf(await response.text());
    const value = (family: string, labels?: Record<string, string>): number => exposition.valueOf(family, labels) ?? 0;
    expect(value("parley_connections_opened_total", { transport: "websocket" })).toBeGreaterThanOrEqual(1);
    expect(value("parley_connects_total", { result: "accepted" })).toBeGreaterThanOrEqual(1);
    expect(value("parley_rejects_total", { code: "INVALID_PAYLOAD" })).toBeGreaterThanOrEqual(1);
    expect(value("parley_messages_posted_total")).toBeGreaterThanOrEqual(1);
    expect(value("parley_message_deliveries_total")).toBeGreaterThanOrEqual(1);
    expect(value("parley_commit_seconds_count")).toBe(value("parley_messages_posted_total"));
    expect(value("parley_commit_batch_messages_sum")).toBe(value("parley_messages_posted_total"));
    expect(value("parley_rows_written_total", { object: "room" })).toBeGreaterThanOrEqual(6);
    expect(value("parley_room_wakes_total", { cause: "connect", detail: "websocket" })).toBeGreaterThanOrEqual(1);
    expect(value("parley_rooms")).toBeGreaterThanOrEqual(1);
    expect(value("parley_build_info", { version: "1.0.0" })).toBe(1);
    expect(value("parley_queue_backlog_messages", { queue: "relay" })).toBe(0);
    expect(value("parley_dead_letters")).toBe(0);
    expect(value("parley_http_requests_total", { route: "socket.io", status: "101" })).toBeGreaterThanOrEqual(1);
  });

  it("counts refused connections by code", async () => {
    await exports.default.fetch(new Request(new URL("/rooms/../socket.io/?EIO=4&transport=pigeon", ORIGIN)));
    await exports.default.fetch(new Request(new URL("/socket.io/?EIO=4&transport=pigeon", ORIGIN)));
    const before = (await scrape()).valueOf("parley_upgrade_refusals_total", { code: "unknownTransport" })!;
    expect(before).toBeGreaterThanOrEqual(1);
  });

  it("wakes no room: the constructor of none runs", async () => {
    const room = freshRoom();
    await join(room, "ada");
    await shows("parley_top_room_connections", { room }, 1);
    const sleeper = new Sleeper(room);
    await sleeper.sleep();
    const watcher = freshRoom();
    const { besidesLobby } = await queriesMade(watcher, async () => {
      for (let i = 0; i < 5; i++) await scrape();
    });
    // A room that is made looks into its storage more often than that: each scrape looks once, for dead letters.
    expect(besidesLobby).toBe(5);
    expect((await scrape()).valueOf("parley_top_room_connections", { room })).toBe(1);
    await sleeper.see();
  });

  it("costs an unused deployment no row", async () => {
    await scrape();
    const room = freshRoom();
    const { lobbyRows } = await queriesMade(room, async () => {
      for (let i = 0; i < 3; i++) await scrape();
    });
    expect(lobbyRows).toBe(0);
  });

  it("shows the rest where a queue or the dead letters fail", async () => {
    const fetcher = workerWith({ RELAY_QUEUE: {}, DEAD_LETTERS: undefined });
    const exposition = await scrape(fetcher);
    expect(exposition.valueOf("parley_queue_backlog_messages", { queue: "relay" })).toBeUndefined();
    expect(exposition.valueOf("parley_queue_backlog_messages", { queue: "webhooks" })).toBe(0);
    expect(exposition.valueOf("parley_dead_letters")).toBeUndefined();
    expect(exposition.valueOf("parley_rooms")).toBeGreaterThan(0);
  });

  it("has nothing of queues and dead letters whose features are left out", async () => {
    const { fetch } = createParley();
    const exposition = await scrape({ fetch: (request) => fetch(request, env) });
    expect(exposition.valueOf("parley_queue_backlog_messages", { queue: "relay" })).toBeUndefined();
    expect(exposition.valueOf("parley_queue_backlog_messages", { queue: "webhooks" })).toBeUndefined();
    expect(exposition.valueOf("parley_dead_letters")).toBeUndefined();
    expect(exposition.valueOf("parley_lobbies")).toBe(1);
  });

  it("adds up all lobbies of a deployment", async () => {
    const fetcher = workerWith({ LOBBIES: "3" });
    for (const [name, posted] of Object.entries({ "0-of-3": 2, "1-of-3": 3, "2-of-3": 5 })) {
      await env.LOBBY.getByName(name).count("somebody", { id: 1, counts: { posted, "closed:ping timeout": 1 } });
    }
    const exposition = await scrape(fetcher);
    expect(exposition.valueOf("parley_messages_posted_total")).toBe(10);
    expect(exposition.valueOf("parley_connections_closed_total", { reason: "ping timeout" })).toBe(3);
    expect(exposition.valueOf("parley_lobbies")).toBe(3);
  });
});

describe("permission to read it: MET-4", () => {
  it("with METRICS_TOKEN only requests that bring it", async () => {
    const fetcher = workerWith({ METRICS_TOKEN: "a-long-secret-of-16-bytes" });
    expect((await get({}, fetcher)).status).toBe(401);
    expect((await get({ Authorization: "Bearer wrong" }, fetcher)).status).toBe(401);
    expect((await get({ Authorization: "Bearer a-long-secret-of-16-bytes" }, fetcher)).status).toBe(200);
  });

  it("without it all requests; in production no names of rooms then", async () => {
    const room = freshRoom();
    await post(room);
    await shows("parley_top_room_messages_posted_total", { room }, 1);
    const production = { ENVIRONMENT: "production", GUEST_ACCESS: "off" };
    const open = await (await get({}, workerWith(production))).text();
    expect(open).toContain("parley_messages_posted_total");
    expect(open).not.toContain(room);
    const withToken = workerWith({ ...production, METRICS_TOKEN: "a-long-secret-of-16-bytes" });
    expect(await (await get({ Authorization: "Bearer a-long-secret-of-16-bytes" }, withToken)).text()).toContain(room);
  });

  it("in production without a token scrapes the lobbies once in 5 s, for any number of readers: MET-5", async () => {
    const asked = vi.spyOn(Lobby.prototype, "scrape");
    const production = { ENVIRONMENT: "production", GUEST_ACCESS: "off" };
    const fetcher = workerWith(production);
    const read = async (): Promise<string> => (await get({}, fetcher)).text();
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
    try {
      const texts = [await read(), ...(await Promise.all([read(), read(), read()]))];
      expect(new Set(texts).size).toBe(1);
      vi.setSystemTime(Date.now() + OPEN_METRICS_EVERY_MS - 1);
      await read();
      expect(asked).toHaveBeenCalledTimes(1);
      vi.setSystemTime(Date.now() + 1);
      await read();
      expect(asked).toHaveBeenCalledTimes(2);
      const token = "a-long-secret-of-16-bytes";
      const closed = workerWith({ ...production, METRICS_TOKEN: token });
      for (let i = 0; i < 2; i++) expect((await get({ Authorization: `Bearer ${token}` }, closed)).status).toBe(200);
      expect(asked).toHaveBeenCalledTimes(4);
    } finally {
      vi.useRealTimers();
      asked.mockRestore();
    }
  });

  it("with another method: 405", async () => {
    const posted = await exports.default.fetch(new Request(new URL("/metrics", ORIGIN), { method: "POST" }));
    expect(posted.status).toBe(405);
  });
});

describe("counters: MET-2, MET-3", () => {
  it("are added once after the answer to a report was lost", async () => {
    const room = freshRoom();
    const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const report = Reflect.get(Lobby.prototype, "report");
    let lost = 0;
    Lobby.prototype.report = async function (this: Lobby, given) {
      const answer = await report.call(this, given);
      if (given.room === room && lost++ === 0) throw new Error("the line broke");
      return answer;
    };
    try {
      const ada = await join(room, "ada");
      await vi.waitFor(() => expect(lost).toBe(1));
      await ada.ask("chat-message", { content: "hello" });
      ada.close();
      // It has the first batch again; later counts follow with the next one.
      await vi.waitFor(() => expect(lost).toBe(2));
      await join(room, "ben");
      await shows("parley_top_room_messages_posted_total", { room }, 1);
      expect((await scrape()).valueOf("parley_top_room_wakes_total", { room })).toBe(1);
      expect(log).toHaveBeenCalled();
    } finally {
      Lobby.prototype.report = report;
    }
  });

  it("of the Worker are added once after a lost answer, and not sent while nothing happens", async () => {
    const told: CounterDelta[] = [];
    let isLost = true;
    const door = {
      count: async (_source: string, delta: CounterDelta) => {
        told.push(delta);
        if (isLost) throw new Error("the line broke");
      },
    };
    const meter = new WorkerMeter({ LOBBY: { getByName: () => door } } as unknown as Bindings, 1);
    meter.count("http:listRooms,200");
    await meter.send();
    meter.count("http:listRooms,200", 2);
    isLost = false;
    await meter.send();
    await meter.send();
    await meter.send();
    expect(told.map(({ counts }) => counts["http:listRooms,200"])).toEqual([1, 1, 2]);
    expect(told[0]!.id).toBe(told[1]!.id);
    expect(told[2]!.id).toBeGreaterThan(told[1]!.id);
  });

  it("outlive a sleep before their report", async () => {
    const room = freshRoom();
    const ada = await join(room, "ada");
    await shows("parley_top_room_connections", { room }, 1);
    await ada.ask("chat-message", { content: "hello" });
    const sleeper = new Sleeper(room);
    for (let i = 1; i <= 3; i++) {
      await sleeper.sleep();
      await ada.ask("typing", { on: i % 2 === 1 });
    }
    await sleeper.sleep();
    const { body } = await callApi("GET", `/api/rooms/${room}/stats`);
    expect(body.use.wakes).toMatchObject({ connect: 1, message: 3 });
    expect(body.use.framesIn).toBe(5);
  });

  it("are counted once in the stats of a room that reports them between its answer and the lobby's", async () => {
    const room = freshRoom();
    const ada = await join(room, "ada");
    await ada.ask("chat-message", { content: "hello" });
    let isAnswered = false;
    // oxlint-disable-next-line typescript/unbound-method -- called with `call`
    const { stats } = ChatRoom.prototype;
    const spy = vi.spyOn(ChatRoom.prototype, "stats").mockImplementation(async function (this: ChatRoom, query) {
      const answer = await stats.call(this, query);
      isAnswered = true;
      await shows("parley_top_room_messages_posted_total", { room }, 1);
      return answer;
    });
    const asked = callApi("GET", `/api/rooms/${room}/stats`);
    await vi.waitFor(() => expect(isAnswered).toBe(true));
    // A room that empties reports at once.
    ada.close();
    const { body } = await asked;
    spy.mockRestore();
    expect(body.use).toMatchObject({ posted: 1, framesIn: 2 });
  });

  it("have one request for a call, with any outcome", async () => {
    const requests = async (room: string) => (await callApi("GET", `/api/rooms/${room}/stats`)).body.use.requests;
    const room = freshRoom();
    const before = await requests(room);
    const by = { user: "backend", name: "backend" };
    const said = ["a", "b", "c"].map((id): AnnouncedHere => ({
      v: ANNOUNCE_VERSION,
      id,
      data: { content: id },
      at: Date.now(),
      by,
    }));
    await stubOf(room).takeAnnounced(said);
    await stubOf(room).takeAnnounced(said.map((one) => ({ ...one, event: POSTED_EVENT })));
    // The two of them, and the question.
    expect((await requests(room)) - before).toBe(3);
  });

  it("have one request for a deletion", async () => {
    const room = freshRoom();
    const reports = vi.spyOn(Lobby.prototype, "report");
    await stubOf(room).deleteRoom();
    const told = () => reports.mock.calls.flatMap(([report]) => (report.room === room ? (report.delta ?? []) : []));
    await vi.waitFor(() => expect(told()).not.toEqual([]));
    expect(told().map(({ counts }) => counts["requests:call"])).toEqual([1]);
  });

  it("name few rooms, those with the most traffic", async () => {
    const rooms = Array.from({ length: 25 }, () => freshRoom());
    for (const [i, room] of rooms.entries()) {
      const empty = { members: 0, lastSeq: i, lastActivity: 1, believedMs: 1, madeAtMs: 1 };
      await lobby().report({
        room,
        ...empty,
        connections: 0,
        delta: { id: 1, counts: { delivered: 1000 + i } },
      });
    }
    const named = (await scrape()).labelsOf("parley_top_room_message_deliveries_total", "room");
    expect(named).toEqual(rooms.slice(5).reverse());
  });
});
