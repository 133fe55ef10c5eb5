// A chat under a path of another Worker: which requests and queues are the chat's, and which the Worker's.
import { createExecutionContext, createMessageBatch, getQueueResult } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";

import { createParley } from "../../../src/entries/chat.ts";
import { ORIGIN, upgrade } from "../raw-client.ts";
import { request as poll } from "../poller.ts";
import { answerTo, at, call, freshRoom, join, refusal, request, session } from "./acme.ts";

const SERVICE = { user: "backend", role: "service" };

describe("the addresses under the base path are the chat's", () => {
  it("a member enters over a WebSocket, and posts", async () => {
    const room = freshRoom();
    const [ada, ben] = await Promise.all(["ada", "ben"].map((user) => join("/chat", room, { user })));
    expect(await ada!.ask("chat-message", { content: "hello" })).toMatchObject({ ok: true, seq: 1 });
    expect(await ben!.receives("chat-message")).toMatchObject([{ sender: "ada", content: "hello", room }]);
  });

  it("and over long-polling", async () => {
    const opened = await poll({ room: freshRoom(), headers: session({ user: "ada" }), ...at("/chat") });
    expect([opened.status, (await opened.text())[0]]).toEqual([200, "0"]);
  });

  it("the room may stand in the query", async () => {
    const { status } = await upgrade({
      query: { room: freshRoom() },
      headers: session({ user: "ada" }),
      ...at("/chat"),
    });
    expect(status).toBe(101);
  });

  it("the HTTP API posts and reads; the next page is under the base path", async () => {
    const path = `/chat/api/rooms/${freshRoom()}/messages`;
    for (const content of ["one", "two"])
      expect(await call(SERVICE, "POST", path, { content })).toMatchObject({ status: 201 });
    const page = await request(`${path}?limit=1`, { headers: session(SERVICE) });
    const link = /^<(.+)>; rel="next"$/.exec(page.headers.get("Link")!)![1]!;
    expect(link).toMatch(new RegExp(`^${path}\\?`));
    expect((await call(SERVICE, "GET", link)).body.messages).toMatchObject([{ content: "one" }]);
  });

  it("files are uploaded and read", async () => {
    const room = freshRoom();
    const headers = { ...session({ user: "ada" }), "Content-Type": "text/plain", "Content-Length": "5" };
    const uploaded = await request(`/chat/api/rooms/${room}/files?name=a.txt`, {
      method: "POST",
      headers,
      body: "bytes",
    });
    expect(uploaded.status).toBe(201);
    const { attachment } = await uploaded.json<{ attachment: { key: string } }>();
    const address = `/chat/files/${attachment.key}`;
    expect(await (await request(address, { headers: session({ user: "ben" }) })).text()).toBe("bytes");
    const foreign = { headers: session({ user: "ben", rooms: ["other"] }) };
    expect((await answerTo(address, foreign)).status).toBe(404);
    expect(await answerTo(address)).toEqual({ status: 401, body: refusal("UNAUTHORIZED") });
  });

  it("the description of the API says where it is", async () => {
    expect((await answerTo("/chat/openapi.json")).body.servers).toEqual([{ url: "/chat" }]);
  });

  it("health and metrics answer; unknown addresses below those of the chat get its 404", async () => {
    expect((await answerTo("/chat/health")).body).toMatchObject({ status: "healthy" });
    expect((await request("/chat/metrics")).status).toBe(200);
    for (const path of ["/chat/api/rooms/a/nothing", "/chat/files", "/support/api/guest/more"])
      expect(await answerTo(path)).toEqual({ status: 404, body: refusal("NOT_FOUND") });
  });
});

describe("all others are the Worker's", () => {
  it.each([
    ["/", "Acme's home"],
    ["/chat", "Acme's chat page"],
    ["/chat/about", "Acme's rules of conduct"],
    ["/chatter", "Acme's gossip"],
    ["/api/rooms", "Acme's meeting rooms"],
  ])("%s", async (path, text) => {
    expect(await (await request(path)).text()).toBe(text);
  });

  it.each([
    "/socket.io/",
    "/rooms/a/socket.io/",
    "/health",
    "/chat/",
    "/chatter/socket.io/",
    "/chat/api",
    "/chat/api/users",
  ])("%s, which it does not have", async (path) => {
    expect(await (await request(path)).text()).toBe("404 Not Found");
  });

  it("no spelling of an address passes a guard of the Worker by the path, and is the chat's all the same", async () => {
    const parley = createParley({ basePath: "/chat", authenticate: () => ({ user: "acme", role: "service" }) });
    const isGuarded = (url: string): boolean => /^\/chat\/(api|files|rooms)(\/|$)/.test(new URL(url).pathname);
    const addresses = [
      "/%63hat/api/rooms/plans",
      "/ch%61t/api/rooms/plans",
      "/%63%68%61%74/files/x",
      "/chat/%61pi/rooms/plans",
      "/chat/a%70i/rooms/plans",
      "/chat/api%2Frooms/plans",
      "/chat%2Fapi/rooms/plans",
      "/chat/%72ooms/plans/socket.io/?EIO=4&transport=polling",
      "/chat/x/../api/rooms/plans",
      "/chat/x/%2e%2e/api/rooms/plans",
      "/x/%2E./chat/api/rooms/plans",
      "/chat/./api/rooms/plans",
      "/chat\\api/rooms/plans",
      "//chat/api/rooms/plans",
      "/chat//api/rooms/plans",
    ];
    for (const address of addresses) {
      const given = new Request(ORIGIN + address);
      if (isGuarded(given.url)) continue;
      expect([address, (await parley.handle(given, env))?.status]).toEqual([address, undefined]);
      expect([address, (await parley.fetch(given, env)).status]).toEqual([address, 404]);
    }
    const room = await parley.handle(new Request(`${ORIGIN}/chat/api/rooms/pl%61ns/messages`), env);
    expect(room!.status).toBe(200);
  });

  it("handle leaves the body of such a request unread", async () => {
    const given = new Request(`${ORIGIN}/api/orders`, { method: "POST", body: "mine" });
    expect(await createParley().handle(given, env)).toBeUndefined();
    expect(await given.text()).toBe("mine");
  });

  it("also while a setting is wrong, which closes the chat's own addresses only", async () => {
    const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const wrong = { ...env, MESSAGE_RATE: "fast" };
    const parley = createParley({ basePath: "/chat", authenticate: () => ({ user: "ada" }) });
    const statusOf = async (path: string) => (await parley.handle(new Request(ORIGIN + path), wrong))?.status;
    expect(await statusOf("/chat/api/rooms")).toBe(503);
    expect(await statusOf("/chat/health")).toBe(503);
    expect(await statusOf("/orders")).toBeUndefined();
    expect(log.mock.calls.flat().join()).toContain("MESSAGE_RATE");
    log.mockRestore();
  });

  it("fetch, for a Worker with nothing else, answers 404 for them", async () => {
    const parley = createParley({ basePath: "/chat", authenticate: () => undefined });
    for (const path of ["/", "/chat", "/chatter", "/chat/nothing", "/api/rooms"])
      expect([path, (await parley.fetch(new Request(ORIGIN + path), env)).status]).toEqual([path, 404]);
  });
});

describe("queues", () => {
  it("the chat consumes the one that its options name: a linked room gets the messages", async () => {
    const [here, there] = [freshRoom(), freshRoom()];
    expect(await call(SERVICE, "POST", `/chat/api/rooms/${here}/links`, { to: there })).toMatchObject({ status: 200 });
    await call(SERVICE, "POST", `/chat/api/rooms/${here}/messages`, { content: "passed on" });
    const messages = async (): Promise<unknown> =>
      (await call(SERVICE, "GET", `/chat/api/rooms/${there}/messages`)).body.messages;
    await expect.poll(messages).toMatchObject([{ content: "passed on" }]);
  });

  it("the Worker gets the others, although one is called like the chat's", async () => {
    await request("/letters", { method: "POST", body: "Dear Acme" });
    await expect.poll(async () => (await request("/letters")).text()).toBe("Dear Acme");
  });

  const NOTHING_DONE = { ackAll: false, explicitAcks: [], retryMessages: [], retryBatch: { retry: false } };
  const message = { id: "m1", timestamp: new Date(), attempts: 1, body: "mine" };

  it.each([
    ["is not among those named", { queues: { relay: ["one", "two"] } }, "my-relay"],
    ["is none of the chat's by its end", {}, "my-letters"],
    ["ends like webhooks, while the Worker has none", {}, "my-webhooks"],
  ])("hands back a batch, untouched, whose queue %s", async (_why, options, name) => {
    const parley = createParley(options);
    const batch = createMessageBatch(name, [message]);
    expect(await parley.handleQueue(batch, env)).toBe(false);
    await expect(parley.queue(batch, env)).rejects.toThrow(name);
    expect(await getQueueResult(batch, createExecutionContext())).toMatchObject(NOTHING_DONE);
  });

  it.each([
    ["is among those named", { queues: { relay: ["one", "two"] } }, "two"],
    ["has the end of the chat's", {}, "my-relay"],
  ])("takes one whose queue %s", async (_why, options, name) => {
    const parley = createParley({ authenticate: () => undefined, ...options });
    const batch = createMessageBatch(name, [message]);
    expect(await parley.handleQueue(batch, env)).toBe(true);
    const { retryMessages } = await getQueueResult(batch, createExecutionContext());
    expect(retryMessages.map(({ msgId }) => msgId)).toEqual(["m1"]);
  });
});

describe("a bad option is named", () => {
  it.each([
    [{ basePath: "chat" }, 'basePath: "chat"'],
    [{ basePath: "/chat//" }, 'basePath: "/chat//"'],
    [{ basePath: "/a b" }, 'basePath: "/a b"'],
    [{ basePath: "/a/../b" }, 'basePath: "/a/../b"'],
    [{ basePath: "/." }, 'basePath: "/."'],
    [{ basePath: 5 }, 'basePath: "5"'],
    [{ queues: { relay: 5 } }, "queues.relay"],
    [{ queues: { relay: ["one", 2] } }, "queues.relay"],
    [{ basepath: "/chat" }, '"basepath"'],
    [{ authenticate: "ada" }, "authenticate"],
    [{ queues: { mail: "acme-mail" } }, '"mail"'],
    [{ bindings: { rooms: "DESKS" } }, '"rooms"'],
    [{ bindings: { room: false } }, "bindings.room"],
    [{ bindings: { lobby: "" } }, "bindings.lobby"],
    [{ features: "search" }, "features: must be a list"],
    [{ features: [{ name: "search" }, undefined] }, "features[1]"],
    [{ features: [{ name: "polls" }, { name: "polls" }] }, '"polls"'],
  ])("%j", (options, named) => {
    expect(() => createParley(options as object)).toThrow(named);
  });

  it.each([
    [{ room: "DESK" }, "DESK: the binding is missing (bindings.room)"],
    [{ lobby: "FOYER" }, "FOYER: the binding is missing (bindings.lobby)"],
  ])("bindings %j that the Worker does not have are in the log, and the chat is closed", async (bindings, named) => {
    const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const parley = createParley({ authenticate: () => undefined, bindings });
    expect((await parley.fetch(new Request(`${ORIGIN}/health`), env)).status).toBe(503);
    expect(log.mock.calls.flat().join()).toContain(named);
    log.mockRestore();
  });

  it("a slash at the end of the base path is as good as none", async () => {
    const parley = createParley({ basePath: "/chat/", authenticate: () => undefined });
    expect((await parley.handle(new Request(`${ORIGIN}/chat/health`), env))?.status).toBe(200);
  });
});
