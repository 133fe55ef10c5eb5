// Draining rooms: notices with a moment to come back, disconnects, reconnects. API-10
import { describe, expect, it, vi } from "vitest";

import type { Notice } from "../../src/protocol/chat-events.ts";
import { REPORT_WINDOW_EMPTY_MS } from "../../src/features/directory/pace.ts";
import { callApi, refusal } from "../durable/api-caller.ts";
import { Poller } from "../durable/poller.ts";
import { RawClient } from "../durable/raw-client.ts";
import { freshRoom, join, Sleeper, tokenFor, workerWith } from "../durable/rooms.ts";
import { PacketType } from "../wire/wire-client.ts";

const drain = (body: object, rooms?: readonly string[]) =>
  callApi("POST", "/api/drain", { body, ...(rooms && { as: { rooms } }) });

describe("draining rooms: API-10", () => {
  it("gives each client a moment to come back, and closes with 1012, after a sleep too", async () => {
    const room = freshRoom();
    const clients = [
      await join(room, "ada"),
      await join(room, "ada"),
      await join(room, "ben", { query: { ext: "1" } }),
    ];
    const bystander = await join(freshRoom(), "cyd");
    await new Sleeper(room).sleep();
    const { status, body } = await drain({ rooms: [room], reconnectWithinMs: 60_000 });
    expect({ status, body }).toEqual({ status: 200, body: { ok: true, rooms: [{ room, connections: 3 }] } });
    const moments = new Set<number>();
    for (const client of clients) {
      expect(await client.closes()).toEqual({ code: 1012, reason: "service restart" });
      const [notice] = client.received<Notice>("notice");
      expect(notice).toMatchObject({ code: "SERVER_SHUTDOWN" });
      expect(notice!.retryAfterMs).toBeLessThan(60_000);
      moments.add(notice!.retryAfterMs!);
      // No DISCONNECT: a stock client takes it for a broken line, and comes back.
      expect(client.packets.filter(({ type }) => type === PacketType.DISCONNECT)).toEqual([]);
    }
    expect(moments.size).toBe(3);
    expect((await callApi("GET", `/api/rooms/${room}/members`)).body).toMatchObject({ count: 0 });
    expect(bystander.closed).toBeUndefined();
  });

  it("loses no message: clients that come back recover", async () => {
    const room = freshRoom();
    const ada = await join(room, "ada", { query: { recovery: "on" } });
    await ada.ask("chat-message", { content: "before" });
    const { pid } = ada.accepted();
    await drain({ rooms: [room], reconnectWithinMs: 0 });
    await ada.closes();
    await callApi("POST", `/api/rooms/${room}/messages`, { body: { content: "meanwhile" } });
    const offset = (ada.packets.findLast(({ type }) => type === PacketType.EVENT)!.data as string[]).at(-1);
    const back = await RawClient.open({ room, query: { recovery: "on" } });
    await back.connect({ pid, offset, token: await tokenFor("ada") });
    expect(await back.receives("welcome")).toMatchObject([{ lastSeq: 2 }]);
    expect(back.accepted()).toMatchObject({ pid });
    expect(back.received("chat-message")).toMatchObject([{ content: "meanwhile" }]);
  });

  it("reaches polling clients, and several rooms at once, each once", async () => {
    const rooms = [freshRoom(), freshRoom(), freshRoom()];
    const poller = await Poller.join(rooms[0]!, "ada");
    await join(rooms[1]!, "ben");
    const { body } = await drain({ rooms: [...rooms, rooms[0]!], reconnectWithinMs: 1000 });
    expect(body.rooms).toEqual(rooms.map((room, i) => ({ room, connections: i < 2 ? 1 : 0 })));
    const packets = await poller.pollUntil((packet) => packet === "1");
    expect(packets.at(-2)).toContain("SERVER_SHUTDOWN");
    expect(packets.at(-1)).toBe("1");
  });

  it.each([
    ["an empty list", { rooms: [], reconnectWithinMs: 0 }, "rooms"],
    ["101 rooms", { rooms: Array.from({ length: 101 }, (_, i) => `r${i}`), reconnectWithinMs: 0 }, "rooms"],
    ["a name that is none", { rooms: ["a", "-b"], reconnectWithinMs: 0 }, "rooms.1"],
    ["no window", { rooms: ["a"] }, "reconnectWithinMs"],
    ["a negative window", { rooms: ["a"], reconnectWithinMs: -1 }, "reconnectWithinMs"],
    ["a window of more than ten minutes", { rooms: ["a"], reconnectWithinMs: 600_001 }, "reconnectWithinMs"],
  ])("%s: 400", async (_what, body, path) => {
    const refused = await drain(body);
    expect(refused).toMatchObject({ status: 400, body: refusal("INVALID_PAYLOAD") });
    expect(refused.body.error.issues).toMatchObject([{ path }]);
  });

  it("without rooms drains all rooms that the token opens: LOB-1", async () => {
    const names = Array.from({ length: 12 }, (_, i) => `all-${String(i).padStart(2, "0")}`);
    const clients = await Promise.all(names.map((name) => join(name, "ada")));
    await callApi("POST", `/api/rooms/all-empty/messages`, { body: { content: "nobody here" } });
    await vi.waitFor(async () => {
      const { body } = await callApi("GET", "/api/rooms?prefix=all-&limit=100");
      expect(body.rooms).toHaveLength(names.length + 1);
    });
    // LOB-2: a room that empties sooner is listed a moment longer.
    await scheduler.wait(REPORT_WINDOW_EMPTY_MS);
    const own = await drain({ reconnectWithinMs: 0 }, ["all-0*"]);
    const ten = names.slice(0, 10).map((room) => ({ room, connections: 1 }));
    expect(own).toMatchObject({ status: 200, body: { ok: true, rooms: ten } });
    const rest = await drain({ reconnectWithinMs: 0, after: "all-10" }, ["all-*"]);
    expect(rest.body).toEqual({ ok: true, rooms: names.slice(11).map((room) => ({ room, connections: 1 })) });
    const { body } = await drain({ reconnectWithinMs: 0 }, ["all-*"]);
    expect(body).toEqual({ ok: true, rooms: names.slice(10, 11).map((room) => ({ room, connections: 1 })) });
    for (const client of clients) expect(await client.closes()).toMatchObject({ code: 1012 });
    expect(await drain({ reconnectWithinMs: 0 }, ["all-*"])).toMatchObject({ body: { ok: true, rooms: [] } });
  });

  it("one room that cannot be reached keeps no other from being drained", async () => {
    const rooms = Array.from({ length: 600 }, (_, i) => ({ room: `r${String(i).padStart(3, "0")}`, members: 1 }));
    const list = async ({ limit }: { limit: number }) => ({ rooms: rooms.slice(0, limit), hasMore: true });
    const drainOne = async (room: string): Promise<number> => {
      if (room === "r007") throw new Error("moving");
      return 1;
    };
    const fetcher = workerWith({
      LOBBY: { getByName: () => ({ list }) },
      CHAT_ROOM: { getByName: (room: string) => ({ drain: () => drainOne(room) }) },
    });
    const { status, body } = await callApi("POST", "/api/drain", { body: { reconnectWithinMs: 0 }, fetcher });
    expect({ status, ...body }).toMatchObject({ status: 200, failed: ["r007"], hasMore: true, after: "r499" });
    expect(body.rooms).toHaveLength(499);
    const named = { rooms: ["r006", "r007", "r008"], reconnectWithinMs: 0 };
    expect(await callApi("POST", "/api/drain", { body: named, fetcher })).toMatchObject({
      status: 200,
      body: { rooms: [{ room: "r006" }, { room: "r008" }], failed: ["r007"] },
    });
  });

  it("without a lobby there is no list of all rooms: 503 that names the missing binding", async () => {
    const fetcher = workerWith({ LOBBY: undefined });
    const refused = await callApi("POST", "/api/drain", { body: { reconnectWithinMs: 0 }, fetcher });
    expect(refused).toMatchObject({
      status: 503,
      body: { error: { code: "MISCONFIGURED", message: expect.stringMatching(/LOBBY .*bindings\.lobby/) } },
    });
  });

  it("a token that does not open all of the rooms drains none: 403", async () => {
    const [own, another] = [freshRoom(), freshRoom()];
    const ada = await join(own, "ada");
    const refused = await drain({ rooms: [own, another], reconnectWithinMs: 0 }, [own]);
    expect(refused).toMatchObject({ status: 403, body: refusal("FORBIDDEN_ROOM") });
    expect(await ada.ask("presence", {})).toMatchObject({ count: 1 });
  });
});
