// Several kinds of rooms in one Worker, and a Worker that lacks bindings, and with each a part of the chat.
import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";

import { createParley } from "../../../src/entries/chat.ts";
import { ORIGIN, RawClient } from "../raw-client.ts";
import { answerTo, at, call, freshRoom, join, refusal, request, session } from "./acme.ts";

const SERVICE = { user: "backend", role: "service" };
const MODERATOR = { user: "mia", role: "moderator" };

describe("rooms of two kinds under two base paths", () => {
  it("have nothing to do with each other, though they have one name", async () => {
    const room = freshRoom();
    const inChat = await join("/chat", room, MODERATOR);
    const inSupport = await join("/support", room, MODERATOR);
    for (const [client, content] of [
      [inChat, "in the chat"],
      [inSupport, "at the desk"],
    ] as const)
      expect(await client.ask("chat-message", { content })).toMatchObject({ ok: true, seq: 1 });
    const contents = async (base: string) =>
      (await call(SERVICE, "GET", `${base}/api/rooms/${room}/messages`)).body.messages;
    expect(await contents("/chat")).toMatchObject([{ content: "in the chat" }]);
    expect(await contents("/support")).toMatchObject([{ content: "at the desk" }]);
  });

  it("are of the classes that are bound", async () => {
    const room = freshRoom();
    await join("/support", room, MODERATOR);
    const of = async (objects: DurableObjectNamespace<never>) =>
      (await (objects.getByName(room) as unknown as { overview(): Promise<{ members: number }> }).overview()).members;
    expect(await of(env.DESKS as never)).toBe(1);
    expect(await of(env.CHAT_ROOM as never)).toBe(0);
  });

  it("each has a list of its own", async () => {
    const [room, desk] = [freshRoom(), freshRoom()];
    await join("/chat", room, MODERATOR);
    await join("/support", desk, MODERATOR);
    const listed = async (base: string): Promise<string[]> =>
      (await call(SERVICE, "GET", `${base}/api/rooms?limit=200`)).body.rooms.map((each: { room: string }) => each.room);
    await expect.poll(() => listed("/chat")).toContain(room);
    await expect.poll(() => listed("/support")).toContain(desk);
    expect(await listed("/chat")).not.toContain(desk);
    expect(await listed("/support")).not.toContain(room);
  });

  it("are beside rooms of another kind, which are no chat", async () => {
    const room = freshRoom();
    const enter = async (user: string): Promise<RawClient> => {
      const client = await RawClient.open({ room, headers: session({ user, name: null }), ...at("/boards") });
      await client.connect();
      return client;
    };
    const [ada, ben] = [await enter("ada"), await enter("ben")];
    ada.emit("draw", [0, 1]);
    await ben.until("the line", () => ben.heard("draw")[0]);
    expect(ben.heard("draw")).toEqual([[[0, 1], "ada"]]);
    const nobody = await answerTo(`/boards/rooms/${room}/socket.io/?EIO=4&transport=polling`);
    expect(nobody).toMatchObject({ status: 401, body: refusal("UNAUTHORIZED") });
    expect(await (await request("/boards/rooms")).text()).toBe("404 Not Found");
  });

  it("each opens its own conversations between two people", async () => {
    const [mia, ben] = [MODERATOR, { user: "ben", role: "moderator" }];
    const desk = await join("/support", freshRoom(), mia);
    const { room } = await desk.ask<{ room: string }>("open-dm", { user: "ben" });
    await join("/support", room, ben);
    await expect(join("/chat", room, ben)).rejects.toBeDefined();
  });

  it("each has its own authenticate: /support is for staff", async () => {
    const path = (base: string) => `${base}/rooms/a/socket.io/?EIO=4&transport=polling`;
    const ada = { headers: { "x-acme-session": '{"user":"ada"}' } };
    expect((await answerTo(path("/support"), ada)).body).toEqual(refusal("UNAUTHORIZED"));
  });
});

describe("without a binding, its part of the chat is off", () => {
  const UNBOUND = Object.fromEntries(
    ["LOBBY", "FILES", "ANNOUNCEMENTS", "DEAD_LETTERS", "WEBHOOKS", "RELAY_QUEUE"].map((name) => [name, undefined]),
  );
  const parley = createParley({ authenticate: () => ({ user: "backend", role: "service" }) });
  const ask = async (method: string, path: string, body?: object) => {
    const headers = { "Content-Type": "application/json" };
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    const response = await parley.fetch(new Request(ORIGIN + path, init), { ...env, ...UNBOUND });
    return { status: response.status, body: await response.json() };
  };

  it.each([
    ["the list of rooms", "GET", "/api/rooms", undefined, "LOBBY"],
    ["the rooms that use most", "GET", "/api/stats", undefined, "LOBBY"],
    ["metrics", "GET", "/metrics", undefined, "LOBBY"],
    ["conversations", "GET", "/api/dms", undefined, "LOBBY"],
    ["links", "POST", "/api/rooms/a/links", { to: "b" }, "RELAY_QUEUE"],
    ["announcements", "POST", "/api/announce", { rooms: ["a"], data: 1 }, "ANNOUNCEMENTS"],
    ["dead letters", "GET", "/api/relay/dead", undefined, "DEAD_LETTERS"],
    ["uploads", "POST", "/api/rooms/a/files", { any: "bytes" }, "FILES"],
    ["files", "GET", `/files/a!e1!${"0".repeat(9)}x!${"0".repeat(32)}`, undefined, "FILES"],
  ])("%s: 503 that names it", async (_what, method, path, body, binding) => {
    const answer = await ask(method, path, body);
    expect(answer).toMatchObject({ status: 503, body: refusal("MISCONFIGURED") });
    expect(JSON.stringify(answer.body)).toContain(binding);
  });

  it("rooms, history and members work", async () => {
    const room = freshRoom();
    const messages = `/api/rooms/${room}/messages`;
    expect(await ask("POST", messages, { content: "hello" })).toMatchObject({ status: 201 });
    expect(await ask("GET", messages)).toMatchObject({ status: 200, body: { messages: [{ content: "hello" }] } });
    expect(await ask("GET", `/api/rooms/${room}`)).toMatchObject({ status: 200 });
    expect(await ask("GET", `/api/rooms/${room}/stats`)).toMatchObject({ status: 200 });
  });

  it("without the room's there is no chat: 503, and the log names it", async () => {
    const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const response = await parley.fetch(new Request(`${ORIGIN}/health`), { ...env, CHAT_ROOM: undefined } as never);
    expect(response.status).toBe(503);
    expect(log.mock.calls.flat().join()).toContain("CHAT_ROOM: the binding is missing");
    log.mockRestore();
  });
});
