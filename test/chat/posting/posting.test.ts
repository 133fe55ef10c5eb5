// Posts, and their refusals.
import { describe, expect, it } from "vitest";

import type { Message, Role } from "../../../src/protocol/chat-events.ts";
import { ChatRoom, ROOM } from "../../host/chat-room.ts";
import { EPOCH } from "../../host/memory-log.ts";
import { START_MS } from "../../host/harness.ts";

describe("a post", () => {
  it("CHAT-2: reaches all members, its sender included, as the same message", async () => {
    const room = new ChatRoom();
    const ada = await room.join({ user: "ada", name: "Ada" });
    const ben = await room.join("ben");
    const answer = await ada.ask("chat-message", { content: "  hello  " });
    const message = {
      id: `${EPOCH}-1`,
      seq: 1,
      room: ROOM,
      sender: "ada",
      name: "Ada",
      content: "hello",
      timestamp: START_MS,
    };
    expect(answer).toEqual({ ok: true, id: message.id, seq: 1, timestamp: START_MS });
    expect(ada.received("chat-message")).toEqual([message]);
    expect(ben.received("chat-message")).toEqual([message]);
    expect(room.log.messages).toEqual([message]);
  });

  it("keeps its clientMsgId and replyTo, and drops unknown keys", async () => {
    const room = new ChatRoom();
    const ada = await room.join("ada");
    const { id } = await ada.ask("chat-message", { content: "first" });
    room.quiet();
    // Older clients send `userId` and `timestamp`.
    const unknown = { sender: "eve", seq: 99, extra: 1, userId: "eve", timestamp: 1 };
    ada.emit("chat-message", { content: "second", clientMsgId: "c-2", replyTo: id, ...unknown });
    const [, second] = ada.received("chat-message");
    expect(second).toMatchObject({
      seq: 2,
      sender: "ada",
      clientMsgId: "c-2",
      replyTo: id,
      timestamp: START_MS + 1000,
    });
    for (const dropped of ["extra", "userId"]) expect(second).not.toHaveProperty(dropped);
  });

  it("CHAT-3: gets no answer where it is stored and came without an ack callback", async () => {
    const room = new ChatRoom();
    const ada = await room.join("ada");
    ada.emit("chat-message", { content: "hello" });
    expect(ada.received("chat-message")).toHaveLength(1);
    expect(ada.received("error")).toEqual([]);
  });

  it.each(["reader"] satisfies Role[])("FORBIDDEN: a %s may not post, but gets and reads messages", async (role) => {
    const room = new ChatRoom();
    const quiet = await room.join({ user: "quiet", role });
    const ada = await room.join("ada");
    expect(await quiet.ask("chat-message", { content: "hello" })).toMatchObject({ error: { code: "FORBIDDEN" } });
    ada.emit("chat-message", { content: "hello" });
    expect(quiet.received("chat-message")).toHaveLength(1);
    expect(await quiet.ask("history", {})).toMatchObject({ ok: true, hasMore: false });
    expect(room.log.messages).toHaveLength(1);
  });
});

describe("INVALID_PAYLOAD", () => {
  it.each<[what: string, payload: unknown]>([
    ["null", null],
    ["a string", "hello"],
    ["empty content", { content: "" }],
    ["content of spaces", { content: " \n\t\u00a0 " }],
    ["content of which nothing can be seen", { content: "\u200B\u2060\0" }],
    ["a replyTo with a length that cannot be compared", { content: "x", replyTo: { length: { toString: 1 } } }],
    [
      "the same, and what nests deep",
      { replyTo: { length: { toString: 1 } }, deep: JSON.parse(`${"[".repeat(4000)}${"]".repeat(4000)}`) as unknown },
    ],
    ["content hidden in a prototype", JSON.parse('{"__proto__":{"content":"x"}}')],
  ])("answers %s", async (_what, payload) => {
    const room = new ChatRoom();
    const ada = await room.join("ada");
    const answer = await ada.ask("chat-message", payload);
    expect(answer).toEqual({ error: { code: "INVALID_PAYLOAD", message: expect.any(String) } });
    expect(room.log.messages).toEqual([]);
    expect(ada.closing).toBeUndefined();
  });

  it("names the wrong field", async () => {
    const ada = await new ChatRoom().join("ada");
    const { error } = await ada.ask("chat-message", { content: 7, clientMsgId: [] });
    expect(error.message).toMatch(/content.*clientMsgId/);
  });

  it("names no correct field", async () => {
    const ada = await new ChatRoom().join("ada");
    const attachment = { key: "01234567890123456789", name: "n", type: "image/png", size: 7 };
    const { error } = await ada.ask("chat-message", { content: "x", replyTo: { length: { toString: 1 } }, attachment });
    expect(error.message).toContain("replyTo");
    expect(error.message).not.toContain("attachment");
  });

  it("answers an event without any argument", async () => {
    const ada = await new ChatRoom().join("ada");
    expect(await ada.ask("chat-message")).toMatchObject({ error: { code: "INVALID_PAYLOAD" } });
  });
});

describe("TOO_LONG", () => {
  const LIMIT = 20;

  it.each(["x", "é", "\u{1F600}"])(
    "counts %s as one character: limit - 1 and limit pass, limit + 1 does not",
    async (c) => {
      const room = new ChatRoom({ maxContentLength: LIMIT });
      const ada = await room.join("ada");
      for (const length of [LIMIT - 1, LIMIT]) {
        expect(await ada.ask("chat-message", { content: c.repeat(length) })).toMatchObject({ ok: true });
        room.quiet();
      }
      const answer = await ada.ask("chat-message", { content: c.repeat(LIMIT + 1) });
      expect(answer).toEqual({ error: { code: "TOO_LONG", message: expect.stringContaining(`${LIMIT}`) } });
      expect(room.log.messages).toHaveLength(2);
    },
  );

  it("is measured in the normal form, in posts and edits", async () => {
    const room = new ChatRoom({ maxContentLength: LIMIT });
    const ada = await room.join("ada");
    const lines = "x\r\n".repeat(LIMIT / 2);
    for (const content of [` ${"x".repeat(LIMIT)}\n`, lines, `${"\0".repeat(LIMIT)}y`]) {
      expect(await ada.ask("chat-message", { content })).toMatchObject({ ok: true });
      room.quiet();
    }
    expect(await ada.ask("edit-message", { id: `${EPOCH}-1`, content: lines })).toMatchObject({ ok: true });
    expect(await ada.ask("edit-message", { id: `${EPOCH}-1`, content: "🦊".repeat(LIMIT + 1) })).toMatchObject({
      error: { code: "TOO_LONG" },
    });
    const kept = "x\n".repeat(LIMIT / 2).trim();
    expect((await ada.ask("history", {})).messages.map(({ content }: Message) => content)).toEqual([kept, kept, "y"]);
    expect(await ada.ask("edit-message", { id: `${EPOCH}-1`, content: "\u200B" })).toMatchObject({
      error: { code: "INVALID_PAYLOAD" },
    });
  });
});

describe("NOT_FOUND", () => {
  it.each([`${EPOCH}-2`, `${EPOCH}-0`, `${EPOCH}--1`, `${EPOCH}-1.5`, `${EPOCH}-NaN`, `${EPOCH}-`, "e2-1", "1", "-1"])(
    "answers a replyTo of %s where one message stands",
    async (replyTo) => {
      const room = new ChatRoom();
      const ada = await room.join("ada");
      ada.emit("chat-message", { content: "first" });
      const answer = await ada.ask("chat-message", { content: "x", replyTo });
      expect(answer).toMatchObject({ error: { code: "NOT_FOUND" } });
    },
  );

  it("is not answered where the message exists, also after sleep", async () => {
    const room = new ChatRoom();
    const ada = await room.join("ada");
    const { id } = await ada.ask("chat-message", { content: "first" });
    room.quiet();
    room.shell.evict();
    expect(await ada.ask("chat-message", { content: "x", replyTo: id })).toMatchObject({ ok: true, seq: 2 });
  });
});

describe("UNKNOWN_EVENT", () => {
  it.each(["dance", "__proto__", "constructor", "toString", "hasOwnProperty", "", "chat-message ", "welcome", "error"])(
    "answers the event %j",
    async (event) => {
      const room = new ChatRoom();
      const ada = await room.join("ada");
      expect(await ada.ask(event, { content: "x" })).toMatchObject({ error: { code: "UNKNOWN_EVENT" } });
      expect(ada.closing).toBeUndefined();
      expect(room.shell.problems).toEqual([]);
    },
  );

  it("cuts a long name in its error", async () => {
    const ada = await new ChatRoom().join("ada");
    const { error } = await ada.ask("x".repeat(10_000));
    expect(error.message.length).toBeLessThan(200);
  });
});

describe("CHAT-3: without an ack callback", () => {
  it.each<[code: string, event: string, payload: unknown]>([
    ["INVALID_PAYLOAD", "chat-message", {}],
    ["TOO_LONG", "chat-message", { content: "x".repeat(1001) }],
    ["NOT_FOUND", "chat-message", { content: "x", replyTo: "nothing" }],
    ["UNKNOWN_EVENT", "dance", {}],
    ["INVALID_PAYLOAD", "history", { limit: 0 }],
  ])("%s arrives as event error, to its sender only", async (code, event, payload) => {
    const room = new ChatRoom();
    const ada = await room.join("ada");
    const ben = await room.join("ben");
    ada.emit(event, payload);
    expect(ada.received("error")).toEqual([{ code, message: expect.any(String) }]);
    expect(ben.received("error")).toEqual([]);
  });
});
