// Calls that post and read: the same rules and the same room as by events. API-2, API-6, API-7
import { beforeAll, describe, expect, it } from "vitest";

import type { Message } from "../../src/protocol/chat-events.ts";
import { callApi, pagesFrom, refusal, type CallOptions } from "../durable/api-caller.ts";
import { freshRoom, join, Sleeper, useSettings } from "../durable/rooms.ts";

useSettings({ MESSAGE_RATE: "10000", MESSAGE_BURST: "10000" });

const post = (room: string, body: object, options: CallOptions = {}) =>
  callApi("POST", `/api/rooms/${room}/messages`, { body, ...options });

async function roomWith(contents: readonly string[]): Promise<string> {
  const room = freshRoom();
  for (const content of contents) await post(room, { content });
  return room;
}

const numbered = (count: number): string[] => Array.from({ length: count }, (_, i) => `message ${i + 1}`);

describe("a post: API-6", () => {
  it("is stored, then seen by everyone, then answered: 201", async () => {
    const room = freshRoom();
    const ada = await join(room, "ada");
    const { status, body } = await post(room, { content: " hello " });
    expect(status).toBe(201);
    expect(body).toEqual({ ok: true, id: expect.any(String), seq: 1, timestamp: expect.any(Number) });
    const [message] = await ada.receives<Message>("chat-message");
    const { id, seq, timestamp } = body as Message;
    const hello = { room, sender: "backend", name: "backend", content: "hello" };
    expect(message).toEqual({ id, seq, timestamp, ...hello });
    expect((await ada.ask<{ messages: Message[] }>("history", {})).messages).toEqual([message]);
  });

  it.each([
    ["that answers nothing", { content: "x", replyTo: "no-such-id" }, 404, "NOT_FOUND"],
    ["without content", {}, 400, "INVALID_PAYLOAD"],
    ["with empty content", { content: " \n " }, 400, "INVALID_PAYLOAD"],
    ["that is too long", { content: "x".repeat(1001) }, 413, "TOO_LONG"],
  ])("%s is refused", async (_what, body, status, code) => {
    const room = freshRoom();
    const ada = await join(room, "ada");
    expect(await post(room, body)).toMatchObject({ status, body: refusal(code) });
    expect(await ada.ask("history", {})).toMatchObject({ messages: [] });
  });

  it("names each field that was wrong", async () => {
    const { status, body } = await post(freshRoom(), { content: 7, clientMsgId: "", replyTo: [] });
    expect(status).toBe(400);
    const { issues } = body.error as { issues: Array<{ path: string }> };
    expect([...new Set(issues.map(({ path }) => path))].sort()).toEqual(["clientMsgId", "content", "replyTo"]);
    const empty = await post(freshRoom(), { content: "  " });
    expect(empty.body.error.issues).toEqual([{ path: "content", message: "must not be empty" }]);
  });

  it("sent again with its Idempotency-Key or clientMsgId is a duplicate: 200, and no member gets it twice", async () => {
    const room = freshRoom();
    const ada = await join(room, "ada");
    const key = { headers: { "Idempotency-Key": "order-17" } };
    const first = await post(room, { content: "paid" }, key);
    expect(first.status).toBe(201);
    const { id, seq, timestamp } = first.body as Message;
    const duplicate = { status: 200, body: { ok: true, id, seq, timestamp, duplicate: true } };
    expect(await post(room, { content: "paid" }, key)).toMatchObject(duplicate);
    expect(await post(room, { content: "paid", clientMsgId: "order-17" })).toMatchObject(duplicate);
    expect(await post(room, { content: "paid", clientMsgId: "order-17" }, key)).toMatchObject(duplicate);
    await new Sleeper(room).sleep();
    expect(await post(room, { content: "paid" }, key)).toMatchObject(duplicate);
    // The same key of another user is another one.
    expect(await post(room, { content: "paid", as: "ben" }, key)).toMatchObject({ status: 201, body: { seq: 2 } });
    expect((await ada.receives<Message>("chat-message", 2)).map(({ sender }) => sender)).toEqual(["backend", "ben"]);
  });

  it("has one key: header and body that differ, or a key that is too long, are a 400", async () => {
    const header = (key: string) => ({ headers: { "Idempotency-Key": key } });
    for (const refused of [
      await post(freshRoom(), { content: "x", clientMsgId: "a" }, header("b")),
      await post(freshRoom(), { content: "x" }, header("k".repeat(65))),
    ]) {
      expect(refused).toMatchObject({ status: 400, body: refusal("INVALID_PAYLOAD") });
      expect(refused.body.error.issues).toMatchObject([{ path: "clientMsgId" }]);
    }
  });
});

describe("history: API-7", () => {
  /** Of ten messages. */
  let room: string;
  beforeAll(async () => void (room = await roomWith(numbered(10))));

  it("is that of the event", async () => {
    const ada = await join(room, "ada");
    for (const query of [
      {},
      { limit: 2 },
      { before: 3 },
      { after: 2, limit: 2 },
      { after: 12 },
      { around: 3, limit: 3 },
      { beforeTime: 1 },
      { afterTime: 0 },
    ]) {
      const text = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]));
      const { status, body } = await callApi("GET", `/api/rooms/${room}/messages?${text.toString()}`);
      expect(status).toBe(200);
      expect(body).toEqual(await ada.ask("history", query));
    }
  });

  it.each([
    ["back from the newest", "limit=3", [[8, 9, 10], [5, 6, 7], [2, 3, 4], [1]]],
    [
      "on from the oldest",
      "after=0&limit=4",
      [
        [1, 2, 3, 4],
        [5, 6, 7, 8],
        [9, 10],
      ],
    ],
    [
      "on from a moment",
      "afterTime=0&limit=6",
      [
        [1, 2, 3, 4, 5, 6],
        [7, 8, 9, 10],
      ],
    ],
    [
      "back from a place in the middle",
      "around=6&limit=4",
      [
        [5, 6, 7, 8],
        [1, 2, 3, 4],
      ],
    ],
  ])("`Link` leads %s to the end", async (_where, query, pages) => {
    const read = await pagesFrom(`/api/rooms/${room}/messages?${query}`);
    expect(read.map(({ messages }) => (messages as Message[]).map(({ seq }) => seq))).toEqual(pages);
  });

  it("that is asked for by parameters which are none is refused: 400", async () => {
    for (const [query, path] of [
      ["limit=0", "limit"],
      ["limit=201", "limit"],
      ["limit=many", "limit"],
      ["limit=", "limit"],
      ["limit=1.5", "limit"],
      ["limit=1&limit=2", "limit"],
      ["before=-1", "before"],
      ["after=1e3", "after"],
      ["before=99999999999999999999", "before"],
      ["before=1&after=2", ""],
    ]) {
      const { status, body } = await callApi("GET", `/api/rooms/${room}/messages?${query}`);
      expect([query, status]).toEqual([query, 400]);
      expect(body).toMatchObject({ error: { code: "INVALID_PAYLOAD", issues: [{ path }] } });
    }
  });

  it("is the same after sleep, and ignores unknown parameters", async () => {
    const before = await callApi("GET", `/api/rooms/${room}/messages`);
    await new Sleeper(room).sleep();
    const after = await callApi("GET", `/api/rooms/${room}/messages?colour=blue&__proto__=1&constructor=2`);
    expect(after.body).toEqual(before.body);
  });
});

describe("members and the room: API-2", () => {
  it("lists the members of the event; a caller is none of them", async () => {
    const room = freshRoom();
    const ada = await join(room, "ada");
    await join(room, "ada");
    await join(room, "ben");
    const { status, body } = await callApi("GET", `/api/rooms/${room}/members`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ ok: true, count: 2, members: [{ user: "ada", connections: 2 }, { user: "ben" }] });
    expect(body).toEqual(await ada.ask("presence", {}));
    await new Sleeper(room).sleep();
    expect((await callApi("GET", `/api/rooms/${room}/members`)).body).toEqual(body);
  });

  it("shows the overview of a room, before and after sleep", async () => {
    const room = freshRoom();
    const { status, body } = await callApi("GET", `/api/rooms/${room}`);
    expect({ status, body }).toEqual({
      status: 200,
      body: { ok: true, room, members: 0, lastSeq: 0, lastActivity: null },
    });
    await join(room, "ada");
    const { timestamp } = (await post(room, { content: "hello" })).body as Message;
    const busy = { ok: true, room, members: 1, lastSeq: 1, lastActivity: timestamp };
    expect((await callApi("GET", `/api/rooms/${room}`)).body).toEqual(busy);
    await new Sleeper(room).sleep();
    expect((await callApi("GET", `/api/rooms/${room}`)).body).toEqual(busy);
  });
});
