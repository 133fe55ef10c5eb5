// The handshake: the room, and the four places of a token.
import { runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";

import { request as poll } from "../durable/poller.ts";
import { RawClient, upgrade, type UpgradeOptions } from "../durable/raw-client.ts";
import { freshRoom, join, stubOf, tokenFor, workerWith } from "../durable/rooms.ts";

describe("the handshake", () => {
  it("has exactly five keys: EIO-1", async () => {
    const { handshake } = await RawClient.open({ room: freshRoom() });
    expect(handshake).toEqual({
      sid: expect.stringMatching(/^[\w-]{20}$/),
      upgrades: [],
      pingInterval: 45_000,
      pingTimeout: 30_000,
      maxPayload: 65_536,
    });
  });

  it("CONNECT is answered with exactly a sid, which is not the session's: SIO-2", async () => {
    const client = await RawClient.open({ room: freshRoom() });
    const sid = await client.connect({ token: await tokenFor("ada") });
    expect(client.frames[1]).toBe(`40{"sid":"${sid}"}`);
    expect(sid).not.toBe(client.handshake.sid);
  });

  it("welcome comes first, with room and user: CHAT-1", async () => {
    const room = freshRoom();
    const client = await RawClient.open({ room });
    await client.connect({ token: await tokenFor("ada", { name: "Ada 🦊", role: "moderator" }) });
    const [welcome] = await client.receives("welcome");
    expect(client.packets[1]?.data).toEqual(["welcome", welcome]);
    expect(welcome).toMatchObject({
      room,
      user: "ada",
      name: "Ada 🦊",
      role: "moderator",
      lastSeq: 0,
      presence: { count: 1 },
      settings: { maxContentLength: 1000, messageRate: 10, messageBurst: 10 },
    });
  });
});

describe("the room", () => {
  it.each<[string, UpgradeOptions, string]>([
    ["none named", {}, "global"],
    ["in the query", { query: { room: "in-query" } }, "in-query"],
    ["in the path", { room: "in-path" }, "in-path"],
    ["the path counts before the query", { room: "path-first", query: { room: "other" } }, "path-first"],
    ["every kind of character", { room: "aZ0_.-~" }, "aZ0_.-~"],
  ])("%s", async (_what, options, room) => {
    const client = await RawClient.open(options);
    await client.connect({ token: await tokenFor("ada") });
    expect(await client.receives("welcome")).toMatchObject([{ room }]);
  });

  it("two rooms are apart; two addresses of one room share it", async () => {
    const [room, other] = [freshRoom(), freshRoom()];
    const inPath = await join(room, "ada");
    const inQuery = await RawClient.open({ query: { room } });
    await inQuery.connect({ token: await tokenFor("ben") });
    const elsewhere = await join(other, "cyd");
    await inPath.ask("chat-message", { content: "hello" });
    expect(await inQuery.receives("chat-message")).toMatchObject([{ content: "hello", room, sender: "ada" }]);
    expect(await elsewhere.ask("history", {})).toMatchObject({ messages: [] });
    expect(elsewhere.received("chat-message")).toEqual([]);
  });
});

describe("the application's query", () => {
  const queries: Array<Record<string, string>> = [
    { session: "e".repeat(9000), note: "你好".repeat(200) },
    Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`k${at}`, "x".repeat(20)])),
  ];

  it.each(queries)("is nothing to the chat, however long, over both transports", async (query) => {
    const room = freshRoom();
    const ada = await join(room, "ada", { query });
    expect(await ada.ask("chat-message", { content: "hi" })).toMatchObject({ ok: true });
    expect((await poll({ room, query })).status).toBe(200);
  });
});

describe("a token", () => {
  const atUpgrade: ReadonlyArray<[string, (token: string) => UpgradeOptions]> = [
    ["Authorization", (token) => ({ headers: { Authorization: `Bearer ${token}` } })],
    ["?token=", (token) => ({ query: { token } })],
    ["the subprotocol", (token) => ({ headers: { "Sec-WebSocket-Protocol": `bearer, ${token}` } })],
  ];

  it.each(atUpgrade)("in %s names the user; CONNECT needs none then", async (_place, options) => {
    const client = await RawClient.open({ room: freshRoom(), ...options(await tokenFor("ada", { name: "Äda" })) });
    await client.connect();
    expect(await client.receives("welcome")).toMatchObject([{ user: "ada", name: "Äda" }]);
  });

  it.each(["bearer, TOKEN", "chat, bearer, TOKEN"])(
    "among the subprotocols %s: bearer is selected: EIO-11",
    async (list) => {
      const offered = list.replace("TOKEN", await tokenFor("ada"));
      const client = await RawClient.open({ room: freshRoom(), headers: { "Sec-WebSocket-Protocol": offered } });
      await client.connect();
      expect(await client.receives("welcome")).toMatchObject([{ user: "ada" }]);
      const { headers } = await upgrade({ headers: { "Sec-WebSocket-Protocol": offered } });
      expect(headers.get("Sec-WebSocket-Protocol")).toBe("bearer");
    },
  );

  it.each([
    ["chat", "chat"],
    ["v2.chat, v1.chat", "v2.chat"],
    ["a/b, chat", "chat"],
    ["a/b", null],
    [",", null],
  ])("where none stands among the subprotocols %s: %s is selected: EIO-11", async (offered, selected) => {
    const { headers } = await upgrade({ headers: { "Sec-WebSocket-Protocol": offered } });
    expect(headers.get("Sec-WebSocket-Protocol")).toBe(selected);
  });

  it.each(atUpgrade)("in %s goes no further than the Worker", async (_place, options) => {
    const token = await tokenFor("ada");
    const forwarded: Request[] = [];
    const stub = { fetch: (request: Request) => (forwarded.push(request), Promise.resolve(new Response("room"))) };
    const namespace = { getByName: () => stub, get: () => stub, idFromName: (name: string) => name };
    await upgrade({ ...options(token), fetcher: workerWith({ CHAT_ROOM: namespace }) });
    expect(forwarded).toHaveLength(1);
    const [request] = forwarded;
    const signature = token.split(".")[2]!;
    expect(request!.url).not.toContain(signature);
    const leaking = [...request!.headers].filter(([, value]) => value.includes(signature)).map(([name]) => name);
    expect(leaking, "headers that carry the token on").toEqual([]);
  });

  it("in CONNECT is nowhere in what a room keeps", async () => {
    const room = freshRoom();
    const token = await tokenFor("ada");
    const client = await RawClient.open({ room, query: { extra: "kept" } });
    await client.connect({ token });
    await client.receives("welcome");
    await client.ask("chat-message", { content: "hello" });
    const kept = await runInDurableObject(stubOf(room), (_instance, state) =>
      JSON.stringify(state.getWebSockets().map((ws) => ws.deserializeAttachment() as unknown)),
    );
    expect(kept).toContain("ada");
    expect(kept).not.toContain(token.split(".")[2]);
  });
});

it("a refused CONNECT is a CONNECT_ERROR with data.code: SIO-3", async () => {
  const client = await RawClient.open({ room: freshRoom() });
  for (const [auth, code] of [
    [undefined, "UNAUTHORIZED"],
    [{ token: { toString: "x" } }, "UNAUTHORIZED"],
    [{ token: await tokenFor("ada", {}, -10) }, "TOKEN_EXPIRED"],
    [{ token: await tokenFor("ada", { rooms: ["x"] }) }, "FORBIDDEN_ROOM"],
  ] as const) {
    await expect(client.connect(auth)).rejects.toEqual({ message: expect.any(String), data: { code } });
    expect(client.frames.at(-1)).toMatch(/^44\{"message":/);
    // The connection is as it was: a client with a better token may try again.
    client.frames.length = 1;
  }
  await client.connect({ token: await tokenFor("ada") });
});
