// CHAT-4: a post that is sent again is recognised by its clientMsgId.
import { describe, expect, it } from "vitest";

import { DEDUPE_WINDOW_MS } from "../../../src/chat/log/posted-ids.ts";
import { ChatRoom, UNLIMITED } from "../../host/chat-room.ts";

const busyRoom = (): ChatRoom => new ChatRoom({ messageRate: UNLIMITED });
const POST = { content: "hello", clientMsgId: "c-1" };

describe("CHAT-4: a post sent again", () => {
  it("is answered with the first message, and no other member gets it", async () => {
    const room = busyRoom();
    const ada = await room.join("ada");
    const ben = await room.join("ben");
    const first = await ada.ask("chat-message", POST);
    room.shell.advance(5000);
    const second = await ada.ask("chat-message", { ...POST, content: "another text" });
    expect(second).toEqual({ ...first, duplicate: true });
    expect(first).not.toHaveProperty("duplicate");
    expect(ben.received("chat-message")).toHaveLength(1);
    expect(room.log.messages).toHaveLength(1);
  });

  it("gets the first answer where a new post would be refused by now: MOD-10", async () => {
    const room = new ChatRoom({ messageRate: { perSecond: 0.001, burst: 1 } });
    const ada = await room.join("ada");
    const first = await ada.ask("chat-message", POST);
    expect(await ada.ask("chat-message", { content: "more" })).toMatchObject({ error: { code: "RATE_LIMITED" } });
    expect(await ada.ask("chat-message", POST)).toEqual({ ...first, duplicate: true });
    const moderator = await room.join({ user: "mod", role: "moderator" });
    await moderator.ask("grant", { user: "ada", role: "reader" });
    expect(await ada.ask("chat-message", { content: "more" })).toMatchObject({ error: { code: "FORBIDDEN" } });
    expect(await ada.ask("chat-message", POST)).toEqual({ ...first, duplicate: true });
  });

  it("gets the same ack as the first one while their batch is still open", async () => {
    const room = busyRoom();
    const ada = await room.join("ada");
    ada.emit("chat-message", { content: "leading edge" });
    const calls = [POST, POST, POST].map((post) => ada.call("chat-message", post));
    for (const { acks } of calls) expect(acks).toEqual([]);
    room.quiet();
    const [first, ...others] = calls.map(({ answer }) => answer);
    expect(first).toMatchObject({ ok: true, seq: 2 });
    expect(first).not.toHaveProperty("duplicate");
    for (const other of others) expect(other).toEqual({ ...first, duplicate: true });
    expect(room.log.messages).toHaveLength(2);
  });

  it("from another tab of the same user is the same post", async () => {
    const room = busyRoom();
    const [ada, tab] = [await room.join("ada"), await room.join("ada")];
    const first = await ada.ask("chat-message", POST);
    expect(await tab.ask("chat-message", POST)).toEqual({ ...first, duplicate: true });
  });

  it("from another user is another post", async () => {
    const room = busyRoom();
    const [ada, ben] = [await room.join("ada"), await room.join("ben")];
    await ada.ask("chat-message", POST);
    const call = ben.call("chat-message", POST);
    room.quiet();
    expect(call.answer).toMatchObject({ ok: true, seq: 2 });
    expect(call.answer).not.toHaveProperty("duplicate");
  });

  it("is not confused by ids that look alike when joined", async () => {
    const room = busyRoom();
    const [one, other] = [await room.join("a"), await room.join("a:b")];
    await one.ask("chat-message", { content: "x", clientMsgId: "b:c" });
    const call = other.call("chat-message", { content: "x", clientMsgId: "c" });
    room.quiet();
    expect(call.answer).toMatchObject({ seq: 2 });
  });

  it.each(["__proto__", "constructor", "toString"])("treats the clientMsgId %s like any other", async (id) => {
    const room = busyRoom();
    const ada = await room.join("ada");
    const first = await ada.ask("chat-message", { content: "x", clientMsgId: id });
    expect(first).toMatchObject({ ok: true, seq: 1 });
    expect(await ada.ask("chat-message", { content: "x", clientMsgId: id })).toEqual({ ...first, duplicate: true });
  });

  it("is recognised after sleep, and by a connection that came later", async () => {
    const room = busyRoom();
    const ada = await room.join("ada");
    const first = await ada.ask("chat-message", POST);
    room.shell.advance(60_000);
    room.shell.evict();
    expect(await ada.ask("chat-message", POST)).toEqual({ ...first, duplicate: true });
    ada.leave();
    room.quiet();
    room.shell.evict();
    const back = await room.join("ada");
    expect(await back.ask("chat-message", POST)).toEqual({ ...first, duplicate: true });
  });

  it.each([false, true])(
    "is recognised up to the end of the window and not after it (asleep meanwhile: %s)",
    async (asleep) => {
      const room = busyRoom();
      const ada = await room.join("ada");
      const first = await ada.ask("chat-message", POST);
      room.shell.advance(DEDUPE_WINDOW_MS);
      if (asleep) room.shell.evict();
      expect(await ada.ask("chat-message", POST)).toEqual({ ...first, duplicate: true });
      room.shell.advance(1);
      if (asleep) room.shell.evict();
      const later = await ada.ask("chat-message", POST);
      expect(later).toEqual({ ok: true, id: expect.any(String), seq: 2, timestamp: room.shell.nowMs });
      expect(await ada.ask("chat-message", POST)).toEqual({ ...later, duplicate: true });
    },
  );
});
