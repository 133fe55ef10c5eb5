// Group commit: posts of one batch, the order of storing, showing and acks, and failures of the storage.
import { describe, expect, it } from "vitest";

import { batchRate, BATCH_POSTS_MAX } from "../../../src/chat/posting/posts.ts";
import type { Client } from "../../host/harness.ts";
import { ChatRoom, SETTINGS, UNLIMITED } from "../../host/chat-room.ts";

const WINDOW_MS = SETTINGS.flushWindowMs;
const busyRoom = (): ChatRoom => new ChatRoom({ messageRate: UNLIMITED });
const sizes = (room: ChatRoom): number[] => room.log.batches.map(({ length }) => length);

describe("a batch", () => {
  it("is committed at once in a quiet room", async () => {
    const room = busyRoom();
    const ada = await room.join("ada");
    expect(ada.call("chat-message", { content: "1" }).answer).toMatchObject({ ok: true, seq: 1 });
    room.shell.advance(WINDOW_MS);
    expect(ada.call("chat-message", { content: "2" }).answer).toMatchObject({ ok: true, seq: 2 });
    expect(sizes(room)).toEqual([1, 1]);
  });

  it("gathers posts in the window after the last commit, and is committed when the window ends", async () => {
    const room = busyRoom();
    const ada = await room.join("ada");
    const ben = await room.join("ben");
    ada.emit("chat-message", { content: "1" });
    const calls = [ada, ben, ada].map((client, i) => client.call("chat-message", { content: `${i + 2}` }));
    room.shell.advance(WINDOW_MS - 1);
    expect(ben.received("chat-message")).toHaveLength(1);
    for (const { acks } of calls) expect(acks).toEqual([]);
    room.shell.advance(1);
    expect(sizes(room)).toEqual([1, 3]);
    expect(calls.map(({ answer }) => answer.seq)).toEqual([2, 3, 4]);
    expect(ben.received("chat-message").map(({ content }) => content)).toEqual(["1", "2", "3", "4"]);
  });

  it("does not wait in a small room: after quiet 200 / connections of them are committed ahead of their windows, at most FLUSH_BURST", async () => {
    const inRoomOf = async (connections: number, flushBurst: number): Promise<number> => {
      const room = new ChatRoom({ messageRate: UNLIMITED, flushBurst });
      const people: Client[] = [];
      for (let i = 0; i < connections; i++) people.push(await room.join(`user-${i}`));
      room.quiet();
      for (let i = 0; i < 20; i++) {
        people[0]!.emit("chat-message", { content: `${i}` });
        room.shell.advance(WINDOW_MS / 10);
        if (room.log.batches.length <= i) return i;
      }
      return 20;
    };
    expect(await inRoomOf(1, 8)).toBe(8);
    expect(await inRoomOf(1, 3)).toBe(3);
    expect(await inRoomOf(50, 8)).toBe(4);
    expect(await inRoomOf(101, 8)).toBe(1);
    expect(await inRoomOf(2, 1)).toBe(1);
  });

  it("waits longer in a room of more than 1,000 connections, in proportion, and the second after quiet a tenth of that", () => {
    const of = (connections: number, flushBurst = 8, flushWindowMs = 50): readonly number[] => {
      const { windowMs, burst } = batchRate(connections, { flushWindowMs, flushBurst });
      return [windowMs, burst];
    };
    expect(of(1000)).toEqual([50, 1]);
    expect(of(9000)).toEqual([450, 2]);
    expect(of(100_000)).toEqual([500, 2]);
    expect(of(9000, 1)).toEqual([450, 1]);
    expect([of(1001)[0], of(9000, 8, 0)[0], of(9000, 8, 1000)[0]]).toEqual([50, 0, 1000]);
  });

  it("is committed by the next post while a burst of input starves the timer", async () => {
    const room = busyRoom();
    const ada = await room.join("ada");
    ada.emit("chat-message", { content: "1" });
    ada.emit("chat-message", { content: "2" });
    room.shell.nowMs += 2 * WINDOW_MS;
    ada.emit("chat-message", { content: "3" });
    expect(sizes(room)).toEqual([1, 2]);
  });

  it(`is committed at once when it holds ${BATCH_POSTS_MAX} posts`, async () => {
    const room = busyRoom();
    const ada = await room.join("ada");
    ada.emit("chat-message", { content: "leading edge" });
    for (let i = 0; i < BATCH_POSTS_MAX - 1; i++) ada.emit("chat-message", { content: `${i}` });
    expect(sizes(room)).toEqual([1]);
    ada.emit("chat-message", { content: "full" });
    expect(sizes(room)).toEqual([1, BATCH_POSTS_MAX]);
    ada.emit("chat-message", { content: "next" });
    expect(sizes(room)).toEqual([1, BATCH_POSTS_MAX]);
    room.quiet();
    expect(sizes(room)).toEqual([1, BATCH_POSTS_MAX, 1]);
  });

  it("gathers a burst of 2,000 posts in as few rows as possible, although no timer runs meanwhile", async () => {
    const room = busyRoom();
    const ada = await room.join("ada");
    const calls = Array.from({ length: 2000 }, (_, i) => ada.call("chat-message", { content: `${i}` }));
    const waiting = calls.filter(({ acks }) => acks.length === 0).length;
    expect(waiting).toBeLessThan(BATCH_POSTS_MAX);
    room.quiet();
    expect(room.log.lastSeq).toBe(2000);
    expect(sizes(room).length).toBeLessThanOrEqual(Math.ceil(2000 / BATCH_POSTS_MAX) + 1);
  });

  it("is limited in characters too", async () => {
    const room = new ChatRoom({ messageRate: UNLIMITED, maxContentLength: 50_000 });
    const ada = await room.join("ada");
    const content = "x".repeat(50_000);
    for (let i = 0; i < 11; i++) ada.emit("chat-message", { content });
    expect(Math.max(...sizes(room))).toBeLessThan(11);
    expect(room.log.messages.length).toBeGreaterThanOrEqual(6);
  });

  it("leaves no deadline behind once it is committed", async () => {
    const room = busyRoom();
    const ada = await room.join("ada");
    ada.emit("chat-message", { content: "1" });
    ada.emit("chat-message", { content: "2" });
    room.quiet();
    expect(room.shell.quietMs).toBeGreaterThan(1000);
  });

  it("is not in the history before it is stored", async () => {
    const room = busyRoom();
    const ada = await room.join("ada");
    ada.emit("chat-message", { content: "1" });
    ada.emit("chat-message", { content: "2" });
    expect((await ada.ask("history", {})).messages).toHaveLength(1);
    const late = await room.join("late");
    expect(late.received("welcome")).toMatchObject([{ lastSeq: 1 }]);
    room.quiet();
    expect(late.received("chat-message")).toMatchObject([{ seq: 2 }]);
  });
});

describe("CHAT-2: a post", () => {
  it("is stored, then seen, then acked", async () => {
    const room = busyRoom();
    const ada = await room.join("ada");
    const ben = await room.join("ben");
    room.quiet();
    const { journal } = room.shell;
    journal.length = 0;
    ada.call("chat-message", { content: "1" });
    ada.call("chat-message", { content: "2" });
    ben.call("chat-message", { content: "3" });
    room.quiet();
    const order = journal.map((line) => /append.*|\w+<4[23]\d*/.exec(line)![0]);
    expect(order).toEqual([
      "append 1",
      "ada<42",
      "ben<42",
      "ada<430",
      "append 2,3",
      "ada<42",
      "ada<42",
      "ben<42",
      "ben<42",
      "ada<431",
      "ben<430",
    ]);
  });
});

describe("while storing fails", () => {
  it("each sender gets INTERNAL and no member gets the message", async () => {
    const room = busyRoom();
    const ada = await room.join("ada");
    const ben = await room.join("ben");
    ada.emit("chat-message", { content: "stored" });
    room.log.failure = new Error("disk full at /secret/path");
    const calls = [ada, ben].map((client) => client.call("chat-message", { content: "lost" }));
    ben.emit("chat-message", { content: "lost, without an ack" });
    room.quiet();
    for (const { acks } of calls) {
      expect(acks).toEqual([[{ error: { code: "INTERNAL", message: expect.not.stringContaining("secret") } }]]);
    }
    expect(ben.received("error")).toMatchObject([{ code: "INTERNAL" }]);
    expect(ada.received("chat-message")).toHaveLength(1);
    expect(ben.received("chat-message")).toHaveLength(1);
    expect(room.shell.problems).toHaveLength(1);
    expect([ada.closing, ben.closing]).toEqual([undefined, undefined]);
  });

  it("no seq is skipped, and the same clientMsgId can be posted again", async () => {
    const room = busyRoom();
    const ada = await room.join("ada");
    ada.emit("chat-message", { content: "1" });
    room.quiet();
    room.log.failure = new Error("disk full");
    const failed = ada.call("chat-message", { content: "2", clientMsgId: "c" });
    expect(failed.answer).toMatchObject({ error: { code: "INTERNAL" } });
    room.log.failure = undefined;
    room.quiet();
    const again = ada.call("chat-message", { content: "2", clientMsgId: "c" });
    expect(again.answer).toEqual({ ok: true, id: expect.any(String), seq: 2, timestamp: room.shell.nowMs });
    expect(room.log.messages.map(({ content }) => content)).toEqual(["1", "2"]);
  });

  it("every retry of the same post gets an answer", async () => {
    const room = busyRoom();
    const ada = await room.join("ada");
    const tab = await room.join("ada");
    ada.emit("chat-message", { content: "leading edge" });
    const calls = [ada, tab].map((client) => client.call("chat-message", { content: "2", clientMsgId: "c" }));
    room.log.failure = new Error("disk full");
    room.quiet();
    for (const { answer } of calls) expect(answer).toMatchObject({ error: { code: "INTERNAL" } });
  });
});

describe("a failure to show stored messages", () => {
  it.each(["strict", "relaxed"] as const)("does not stop the acks (%s)", async (durability) => {
    const broken = (): never => {
      throw new Error("not on this platform");
    };
    const room = new ChatRoom({ messageRate: UNLIMITED, durability }, {}, { durable: broken });
    const ada = await room.join("ada");
    const first = ada.call("chat-message", { content: "first", clientMsgId: "c" });
    expect(first.answer).toMatchObject({ ok: true, seq: 1 });
    expect(ada.call("chat-message", { content: "first", clientMsgId: "c" }).answer).toMatchObject({ duplicate: true });
    const calls = Array.from({ length: 10 }, () => {
      room.shell.advance(WINDOW_MS * 2);
      return ada.call("chat-message", { content: "more" });
    });
    room.quiet();
    room.quiet();
    expect(calls.map(({ answer }) => answer.seq)).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    expect(ada.received("chat-message")).toHaveLength(11);
    expect(room.shell.problems[0]).toMatchObject({ problem: expect.stringContaining("shown") });
  });
});

describe("a sender who leaves before the commit", () => {
  it("has their post stored and shown, without an ack", async () => {
    const room = busyRoom();
    const ada = await room.join("ada");
    const ben = await room.join("ben");
    ben.emit("chat-message", { content: "leading edge" });
    const call = ada.call("chat-message", { content: "last words" });
    ada.leave();
    room.quiet();
    expect(ben.received("chat-message").map(({ content }) => content)).toEqual(["leading edge", "last words"]);
    expect(call.acks).toEqual([]);
    expect(room.shell.problems).toEqual([]);
  });
});
