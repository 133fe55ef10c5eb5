// Use of rooms by HTTP: one room from itself, all of them from the lobby; and the log of events.
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";

import { lobbyOf } from "../../src/protocol/room-list.ts";
import { callApi, pagesFrom, refusal } from "../durable/api-caller.ts";
import { RawClient } from "../durable/raw-client.ts";
import { freshRoom, isArmed, join, Sleeper, stubOf, tokenFor, useSettings } from "../durable/rooms.ts";
import { rowsWritten } from "../durable/rows-written.ts";

useSettings({ LOG_LEVEL: "debug" });

const post = (room: string, content = "hello") => callApi("POST", `/api/rooms/${room}/messages`, { body: { content } });

afterEach(() => vi.restoreAllMocks());

describe("GET /api/rooms/:room/stats", () => {
  it("counts exactly the rows that the room writes", async () => {
    const room = freshRoom();
    await post(room);
    await isArmed(room);
    const used = async () => (await callApi("GET", `/api/rooms/${room}/stats`)).body.use;
    const before = await used();
    const { rows, alarms } = await rowsWritten(room, async () => {
      for (let i = 0; i < 3; i++) await post(room, `${i}`);
      await callApi("POST", `/api/rooms/${room}/moderation`, { body: { action: "ban", user: "zoe" } });
    });
    const after = await used();
    expect([after.rows - before.rows, after.alarmsSet - before.alarmsSet]).toEqual([rows - alarms, alarms]);
    expect(after.posted - before.posted).toBe(3);
  });

  it("lists connections: user, transport, start, last sign of life", async () => {
    const room = freshRoom();
    const before = Date.now();
    await join(room, "ada");
    const stranger = await RawClient.open({ room });
    const { body } = await callApi("GET", `/api/rooms/${room}/stats`);
    expect(body).toMatchObject({ ok: true, room, members: 1, connectionCount: 2, hasMore: false, monthlyCost: null });
    const ada = body.connections.find(({ user }: { user?: string }) => user === "ada");
    expect(ada).toMatchObject({ name: "ada", role: "member", transport: "websocket", isExtended: false });
    expect(ada.since).toBeGreaterThanOrEqual(before);
    expect(ada.lastSeen).toBeGreaterThanOrEqual(ada.since);
    const other = body.connections.find(({ user }: { user?: string }) => user === undefined);
    expect(other).not.toHaveProperty("name");
    expect(JSON.stringify(body)).not.toContain("192.0.2");
    stranger.close();
  });

  it("leads through pages of connections", async () => {
    const room = freshRoom();
    for (const user of ["ada", "ben", "cleo"]) await join(room, user);
    const pages = await pagesFrom(`/api/rooms/${room}/stats?limit=2`);
    const users: string[] = pages.flatMap(({ connections }) => connections.map(({ user }: { user: string }) => user));
    expect(users.toSorted()).toEqual(["ada", "ben", "cleo"]);
    const refused = await callApi("GET", `/api/rooms/${room}/stats?limit=501`);
    expect(refused).toMatchObject({ status: 400, body: refusal("INVALID_PAYLOAD") });
  });

  it("counts the call as the wake that it is; it writes nothing", async () => {
    const room = freshRoom();
    await post(room);
    const sleeper = new Sleeper(room);
    await isArmed(room);
    await sleeper.sleep();
    const look = async (): Promise<void> => {
      const { body } = await callApi("GET", `/api/rooms/${room}/stats`);
      expect(body.awake).toMatchObject({ cause: "call", detail: "stats" });
      expect(body.use.wakes.call).toBe(2);
    };
    const rows = await rowsWritten(room, look, freshRoom());
    expect(rows).toEqual({ rows: 0, alarms: 0 });
  });

  it("counts a call for links as a wake, too", async () => {
    const room = freshRoom();
    await post(room);
    await isArmed(room);
    await new Sleeper(room).sleep();
    await callApi("GET", `/api/rooms/${room}/links`);
    const { body } = await callApi("GET", `/api/rooms/${room}/stats`);
    expect(body.awake).toMatchObject({ cause: "call", detail: "links" });
  });
});

describe("GET /api/stats", () => {
  it("sorts rooms by the use that is asked for, of those that the token opens", async () => {
    const counts = {
      "used-1": { posted: 1, "rows:room": 50, awake_ms: 10 },
      "used-2": { posted: 9, "rows:room": 2, awake_ms: 9000 },
    };
    const door = env.LOBBY.getByName(lobbyOf("any", 1));
    for (const [room, counted] of Object.entries(counts)) {
      const told = { room, members: 0, lastSeq: 1, lastActivity: 1, believedMs: 1, madeAtMs: 1 };
      await door.report({
        ...told,
        connections: 0,
        delta: { id: 1, counts: { ...counted, delivered: counted.posted } },
      });
    }
    const names = async (query: string): Promise<string[]> => {
      const { body } = await callApi("GET", `/api/stats?${query}`, { as: { role: "moderator", rooms: ["used-*"] } });
      return body.rooms.map(({ room }: { room: string }) => room);
    };
    expect(await names("sort=rows")).toEqual(["used-1", "used-2"]);
    expect(await names("sort=awake")).toEqual(["used-2", "used-1"]);
    expect(await names("")).toEqual(["used-2", "used-1"]);
    expect(await names("sort=cost&limit=1")).toEqual(["used-1"]);
    const { body } = await callApi("GET", "/api/stats?sort=rows", { as: { rooms: ["used-1"] } });
    expect(body.rooms).toHaveLength(1);
    expect(body.rooms[0]).toMatchObject({
      room: "used-1",
      members: 0,
      use: { rows: 50, awakeSeconds: 0.01 },
      monthlyCost: null,
      lately: { awakeSeconds: expect.any(Number), wakes: { alarm: 0 }, monthlyCost: null },
    });
    // By the hour, as if it had been there for ten minutes.
    expect(body.rooms[0].lately.rows).toBeCloseTo(50 / 0.1575, 0);
    expect(body.rooms[0]).not.toHaveProperty("deltaId");
  });

  it("is for services and moderators", async () => {
    expect(await callApi("GET", "/api/stats", { as: null })).toMatchObject({ status: 401 });
    for (const role of ["member", "reader"]) {
      expect(await callApi("GET", "/api/stats", { as: { role } })).toMatchObject({
        status: 403,
        body: refusal("FORBIDDEN"),
      });
    }
    expect(await callApi("GET", "/api/stats?sort=beauty")).toMatchObject({ status: 400 });
  });
});

describe("the log", () => {
  it("has wakes, refusals, drains, deletions and failures as JSON, and no token, text or query", async () => {
    const lines: string[] = [];
    for (const level of ["debug", "info", "warn", "error"] as const) {
      vi.spyOn(console, level).mockImplementation((line: string) => void lines.push(line));
    }
    const room = freshRoom();
    const token = await tokenFor("ada");
    const client = await RawClient.open({ room, query: { token, mood: "curious" } }).catch(() =>
      RawClient.open({ room }),
    );
    await client.connect({ token });
    await client.ask("chat-message", { content: "our little secret" });
    // The stored data is damaged: reading it fails.
    await runInDurableObject(stubOf(room), (_room, { storage }) => {
      const [{ name }] = storage.sql
        .exec<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE '%first_seq%body%'")
        .toArray() as [{ name: string }];
      storage.sql.exec(`UPDATE ${name} SET body = 'our little secret, damaged'`);
    });
    expect(await client.ask("history", {})).toMatchObject({ error: { code: "INTERNAL" } });
    await callApi("GET", `/socket.io/?EIO=4&transport=pigeon&token=${token}`, {}).catch(() => undefined);
    await callApi("POST", "/api/drain", { body: { rooms: [room], reconnectWithinMs: 0 } });
    await callApi("DELETE", `/api/rooms/${room}`);
    const events = lines.map((line) => (JSON.parse(line) as { level: string; event: string }).event);
    for (const event of ["room.woke", "room.problem", "connection.refused", "room.drained", "room.deleted"]) {
      expect(events).toContain(event);
    }
    const all = lines.join("\n");
    for (const secret of [token, token.split(".")[2]!, "secret", "mood", "curious", "pigeon&"])
      expect(all).not.toContain(secret);
  });
});
