// Notices before all connections are closed, and the overview for callers from outside.
import { describe, expect, it } from "vitest";

import { ROOM_DELETED, shutdownNotice } from "../../../src/chat/room/notices.ts";
import type { Notice } from "../../../src/protocol/chat-events.ts";
import { ChatRoom, ROOM } from "../../host/chat-room.ts";
import { START_MS } from "../../host/harness.ts";
import { fc } from "../../host/properties.ts";

describe("a notice before connections close", () => {
  it("comes after the acks of all open posts: API-9, API-10", async () => {
    const room = new ChatRoom();
    const ada = await room.join("ada");
    await ada.ask("chat-message", { content: "opens the window" });
    const waiting = ada.call("chat-message", { content: "waits" });
    const outside = room.call("chat-message", "backend", { content: "waits, too" });
    expect(waiting.acks).toEqual([]);
    room.chat.calls.prepareShutdown(() => ROOM_DELETED);
    expect(waiting.answer).toMatchObject({ ok: true, seq: 2 });
    expect(outside.answer).toMatchObject({ ok: true, seq: 3 });
    expect(room.log.messages.map(({ content }) => content)).toEqual(["opens the window", "waits", "waits, too"]);
    expect(ada.received<Notice>("notice")).toEqual([{ code: "ROOM_DELETED", message: expect.any(String) }]);
    expect(ada.packets.at(-1)!.data).toEqual(["notice", ROOM_DELETED]);
  });

  it("gives each client a delay of its own: API-10", async () => {
    const room = new ChatRoom();
    const people = await Promise.all(["ada", "ben", "cleo"].map((user) => room.join(user)));
    room.chat.calls.prepareShutdown(({ id }) => shutdownNotice(id, 10_000));
    const moments = people.map((client) => client.received<Notice>("notice")[0]!.retryAfterMs);
    expect(new Set(moments).size).toBe(3);
  });

  it("spreads the delays evenly over the window: API-10", () => {
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 0, max: 600_000 }), (id, withinMs) => {
        const { retryAfterMs } = shutdownNotice(id, withinMs);
        expect(retryAfterMs).toBeGreaterThanOrEqual(0);
        expect(retryAfterMs).toBeLessThanOrEqual(Math.max(0, withinMs - 1));
      }),
    );
    const slots = Array.from({ length: 10 }, () => 0);
    for (let i = 0; i < 10_000; i++) slots[Math.floor(shutdownNotice(`socket-${i}`, 1000).retryAfterMs! / 100)]!++;
    for (const count of slots) expect(Math.abs(count - 1000)).toBeLessThan(150);
  });
});

describe("a room seen from outside: API-2", () => {
  it("has the members and the newest message", async () => {
    const room = new ChatRoom();
    expect(room.chat.calls.overview()).toEqual({ room: ROOM, members: 0, lastSeq: 0, lastActivity: null });
    const ada = await room.join("ada");
    await room.join("ada");
    await room.join("ben");
    await ada.ask("chat-message", { content: "hello" });
    room.quiet();
    const seen = { room: ROOM, members: 2, lastSeq: 1, lastActivity: START_MS };
    expect(room.chat.calls.overview()).toEqual(seen);
    room.shell.evict();
    expect(room.chat.calls.overview()).toEqual(seen);
  });

  it("answers an event as it answers a client, and refuses unknown events", () => {
    const room = new ChatRoom();
    expect(room.call("chat-message", "backend", { content: "hello" }).answer).toMatchObject({ ok: true, seq: 1 });
    expect(room.call("history", "backend", {}).answer).toMatchObject({ ok: true, hasMore: false });
    expect(room.call("presence", "backend", {}).answer).toEqual({ ok: true, count: 0, members: [] });
    expect(room.call("history", "backend", { limit: 0 }).answer).toMatchObject({ error: { code: "INVALID_PAYLOAD" } });
    expect(room.call("constructor", "backend", {}).answer).toMatchObject({ error: { code: "UNKNOWN_EVENT" } });
    expect(room.call("refresh-token", "backend", { token: "t" }).answer).toMatchObject({
      error: { code: "FORBIDDEN" },
    });
    expect(room.call("chat-message", "eve", { content: "x" }, "reader").answer).toMatchObject({
      error: { code: "FORBIDDEN" },
    });
  });

  it("limits a caller like a member: CHAT-6", () => {
    const room = new ChatRoom();
    const answers = Array.from({ length: 11 }, () => room.call("chat-message", "backend", { content: "x" }));
    room.quiet();
    expect(answers.filter(({ answer }) => answer && "ok" in answer)).toHaveLength(10);
    expect(answers.at(-1)!.answer).toMatchObject({ error: { code: "RATE_LIMITED", retryAfterMs: expect.any(Number) } });
  });
});
