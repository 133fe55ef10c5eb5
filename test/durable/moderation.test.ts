// Moderation in a real object: answers to refused requests, eviction, and the rows that it writes.
import { runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";

import { READ_STORE_INTERVAL_MS } from "../../src/chat/people/reading.ts";
import { answerOf, Poller, request } from "./poller.ts";
import { RawClient, upgrade, type UpgradeOptions } from "./raw-client.ts";
import { freshRoom, join, joinModerator, Sleeper, stubOf, tokenFor, wipeStorage } from "./rooms.ts";
import { rowsWritten } from "./rows-written.ts";

const OK = { ok: true };

const post = (client: RawClient): Promise<unknown> => client.ask("chat-message", { content: "hello" });

/** The ways in which a request can have a token. */
const WAYS: ReadonlyArray<[way: string, options: (token: string) => UpgradeOptions]> = [
  ["Authorization", (token) => ({ headers: { Authorization: `Bearer ${token}` } })],
  ["?token=", (token) => ({ query: { token } })],
  ["the subprotocol", (token) => ({ headers: { "Sec-WebSocket-Protocol": `bearer, ${token}` } })],
];

describe("MOD-3: a ban", () => {
  it("answers a request with the banned user's token with 403, and a CONNECT with BANNED, also after eviction", async () => {
    const room = freshRoom();
    const mia = await joinModerator(room);
    await mia.ask("ban", { user: "ada", seconds: 3600, reason: "spam" });
    const sleeper = new Sleeper(room);
    for (let life = 0; life < 2; life++) {
      const token = await tokenFor("ada");
      for (const [way, options] of WAYS) {
        const response = await upgrade({ room, ...options(token) });
        expect(response.status, way).toBe(403);
        expect(response.webSocket).toBeNull();
        expect(Number(response.headers.get("Retry-After"))).toBeGreaterThan(3000);
        expect(await response.json()).toEqual({
          error: {
            code: "BANNED",
            message: expect.stringContaining("spam"),
            until: expect.any(Number),
            retryAfterMs: expect.any(Number),
          },
        });
      }
      const poll = answerOf(request({ room, headers: { Authorization: `Bearer ${token}` } }));
      expect(await poll).toMatchObject({ status: 403, body: { error: { code: "BANNED" } } });
      const client = await RawClient.open({ room });
      await expect(client.connect({ token })).rejects.toMatchObject({
        data: { code: "BANNED", retryAfterMs: expect.any(Number), until: expect.any(Number) },
      });
      await sleeper.sleep();
    }
    // Others, and the same user in another room, are not banned.
    expect((await upgrade({ room, query: { token: await tokenFor("ben") } })).status).toBe(101);
    expect((await upgrade({ room: freshRoom(), query: { token: await tokenFor("ada") } })).status).toBe(101);
    expect(await mia.ask("unban", { user: "ada" })).toEqual(OK);
    expect((await upgrade({ room, query: { token: await tokenFor("ada") } })).status).toBe(101);
    // A ban without an end.
    await mia.ask("ban", { user: "ada" });
    const endless = await upgrade({ room, query: { token: await tokenFor("ada") } });
    expect(endless.headers.get("Retry-After")).toBeNull();
    expect(await endless.json()).toEqual({ error: { code: "BANNED", message: expect.any(String) } });
  });

  it("sends a polling client the notice, and ends its session with the poll that follows", async () => {
    const room = freshRoom();
    const mia = await joinModerator(room);
    for (const event of ["kick", "ban"]) {
      const ada = await Poller.join(room, "ada");
      const polled = ada.pollUntil((packet) => packet === "41");
      await mia.ask(event, { user: "ada" });
      const packets = await polled;
      expect(packets.at(-2)).toMatch(/^42\["notice",/);
      expect(packets.at(-1)).toBe("41");
      await ada.isOver();
    }
  });
});

describe("after eviction", () => {
  it("user ids of any characters are distinct", async () => {
    const room = freshRoom();
    const sleeper = new Sleeper(room);
    const mia = await joinModerator(room);
    const users = ["é", "É", "e\u0301", "😀", "a b", '"', "\\", "%", "x".repeat(128), "\ud800", "\udc00", "\u0000"];
    for (const user of users) expect(await mia.ask("ban", { user })).toEqual(OK);
    await sleeper.sleep();
    const { users: banned } = await mia.ask<{ users: Array<{ user: string }> }>("moderation-state", {});
    expect(banned.map(({ user }) => user).toSorted()).toEqual(users.toSorted());
    const page = await mia.ask<{ users: Array<{ user: string }> }>("moderation-state", { after: banned[4]!.user });
    expect(page.users).toEqual(banned.slice(5));
    expect((await upgrade({ room, query: { token: await tokenFor("😀") } })).status).toBe(403);
    expect((await upgrade({ room, query: { token: await tokenFor("e") } })).status).toBe(101);
  });
});

it("a list that is longer than its page leaves no table locked: the room drops old tables", async () => {
  const room = freshRoom();
  const mia = await joinModerator(room);
  for (const user of ["ada", "ben", "cyd", "dan"]) expect(await mia.ask("ban", { user })).toEqual(OK);
  expect(await mia.ask("moderation-state", { limit: 1 })).toMatchObject({ hasMore: true });
  await runInDurableObject(stubOf(room), (_room, { storage }) => wipeStorage(storage));
});

describe("rows", () => {
  const DEEDS: ReadonlyArray<[event: string, payload: object, rows: number]> = [
    ["chat-message", { content: "one row" }, 1],
    ["mute", { user: "ada", seconds: 60 }, 2],
    ["unmute", { user: "ada" }, 2],
    ["grant", { user: "ada", role: "reader" }, 2],
    ["revoke", { user: "ada" }, 2],
    ["ban", { user: "zoe" }, 2],
    ["unban", { user: "zoe" }, 2],
    ["slow-mode", { seconds: 60 }, 2],
    ["slow-mode", { seconds: 60 }, 0],
    ["read-only", { on: true }, 2],
    ["audit", {}, 0],
    ["moderation-state", {}, 0],
    ["unban", { user: "zoe" }, 0],
  ];

  it("are two for an action; none for a list, a refusal, or an action that changes nothing", async () => {
    const countAll = async () => {
      const room = freshRoom();
      const [mia, ada] = [await joinModerator(room), await join(room, "ada")];
      // The first message of a room creates its log.
      await post(mia);
      const costs: Array<[event: string, payload: object, rows: number]> = [];
      const others: Record<string, number> = {};
      await rowsWritten(room, async (soFar) => {
        let before = 0;
        const take = (): number => {
          const { rows, alarms } = soFar();
          const taken = rows - alarms - before;
          before += taken;
          return taken;
        };
        const costOf = async (client: RawClient, event: string, payload: object): Promise<number> => {
          await client.ask(event, payload);
          return take();
        };
        for (const [event, payload] of DEEDS) costs.push([event, payload, await costOf(mia, event, payload)]);
        others["refused"] = await costOf(ada, "chat-message", { content: "refused" });
        others["forbidden"] = await costOf(ada, "ban", { user: "mia" });
        await costOf(mia, "read-only", { on: false });
        others["in slow mode"] = await costOf(ada, "chat-message", { content: "one row" });
        others["too soon"] = await costOf(ada, "chat-message", { content: "too soon" });
        await costOf(mia, "ban", { user: "zoe" });
        expect((await upgrade({ room, query: { token: await tokenFor("zoe") } })).status).toBe(403);
        others["banned"] = take();
        // The last one: a second after it the room stores how far Ada has read.
        others["kick"] = await costOf(mia, "kick", { user: "ada" });
      });
      return { costs, others };
    };
    let counted: Awaited<ReturnType<typeof countAll>>;
    let startMs: number;
    // Again, if it took a slow machine so long that the room stored what was read.
    do {
      startMs = performance.now();
      counted = await countAll();
    } while (performance.now() - startMs >= READ_STORE_INTERVAL_MS);
    const others = { refused: 0, forbidden: 0, "in slow mode": 1, "too soon": 0, banned: 0, kick: 2 };
    expect(counted).toEqual({ costs: DEEDS, others });
  });
});
