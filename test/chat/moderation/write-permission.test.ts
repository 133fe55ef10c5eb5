// Mutes, read-only rooms, slow mode, and repeats of earlier posts in them. MOD-6, MOD-7, MOD-8, MOD-10
import { describe, expect, it, vi } from "vitest";

import type { Client } from "../../host/harness.ts";
import { START_MS } from "../../host/harness.ts";
import { cast, OK, post, refusalOf, SERVICE, sleep, withGranted } from "../../host/moderated-room.ts";

const errorOf = (code: string, retryAfterMs?: number): object => ({
  error: { code, message: expect.any(String), ...(retryAfterMs !== undefined && { retryAfterMs }) },
});

describe("MOD-6: MUTED", () => {
  it("holds from the next event to its last millisecond, through sleep", async () => {
    const { room, mia, ada, ben } = await cast();
    expect(await mia.ask("mute", { user: "ada", seconds: 60 })).toEqual(OK);
    expect(await post(ada)).toEqual(errorOf("MUTED", 60_000));
    sleep(room);
    expect(await post(ada)).toEqual(errorOf("MUTED", 59_000));
    room.shell.advance(58_999);
    expect(await post(ada)).toEqual(errorOf("MUTED", 1));
    room.shell.advance(1);
    expect(await post(ada)).toMatchObject(OK);
    expect(ben.received("chat-message")).toHaveLength(1);
  });

  it("holds on all connections, from outside, and after a crash; reading and leaving are allowed", async () => {
    const { room, mia, ada } = await cast();
    const tab = await room.join("ada");
    await mia.ask("mute", { user: "ada", seconds: 60 });
    for (const client of [ada, tab]) expect(await post(client)).toEqual(refusalOf("MUTED"));
    expect(await room.ask("chat-message", "ada", { content: "x" })).toEqual(refusalOf("MUTED"));
    expect(await ada.ask("history", {})).toMatchObject(OK);
    expect(await ada.ask("presence", {})).toMatchObject(OK);
    room.shell.crash();
    const back = await room.join("ada");
    expect(back.received("welcome")).toMatchObject([{ moderation: { mutedUntil: START_MS + 61_000 } }]);
    expect(await post(back)).toEqual(refusalOf("MUTED"));
    expect(room.log.messages).toEqual([]);
  });

  it("binds a granted moderator whom a moderator by token muted", async () => {
    const { mia, gil } = await withGranted(await cast());
    await mia.ask("mute", { user: "gil", seconds: 5 });
    expect(await post(gil)).toEqual(refusalOf("MUTED"));
  });
});

describe("MOD-7: ROOM_READ_ONLY", () => {
  it("holds for all but moderators, through sleep, until it is off", async () => {
    const { room, mia, gil, ada } = await withGranted(await cast());
    expect(await mia.ask("read-only", { on: true })).toEqual(OK);
    expect(await post(ada)).toEqual(errorOf("ROOM_READ_ONLY"));
    for (const client of [mia, gil]) expect(await post(client)).toMatchObject(OK);
    sleep(room);
    const late = await room.join("late");
    expect(late.received("welcome")).toMatchObject([{ moderation: { readOnly: true } }]);
    for (const client of [ada, late]) expect(await post(client)).toEqual(refusalOf("ROOM_READ_ONLY"));
    expect(await room.ask("chat-message", "ada", { content: "x" })).toEqual(refusalOf("ROOM_READ_ONLY"));
    expect(await room.ask("chat-message", SERVICE, { content: "x" })).toMatchObject(OK);
    await mia.ask("read-only", { on: false });
    for (const client of [ada, late]) expect(await post(client)).toMatchObject(OK);
  });
});

describe("MOD-8: SLOW_MODE", () => {
  const slow = async (seconds = 30, flushWindowMs = 0) => {
    const given = await withGranted(await cast({ flushWindowMs }));
    expect(await given.mia.ask("slow-mode", { seconds })).toEqual(OK);
    return given;
  };

  it("lets each user post once per interval, and moderators at any time", async () => {
    const { room, mia, gil, ada, ben } = await slow();
    expect(await post(ada)).toMatchObject(OK);
    room.shell.advance(10_000);
    expect(await post(ada)).toEqual(errorOf("SLOW_MODE", 20_000));
    expect(await post(ben)).toMatchObject(OK);
    for (const client of [mia, mia, gil, gil]) expect(await post(client)).toMatchObject(OK);
    room.shell.advance(19_999);
    expect(await post(ada)).toEqual(errorOf("SLOW_MODE", 1));
    room.shell.advance(1);
    expect(await post(ada)).toMatchObject(OK);
    expect(await post(ada)).toEqual(errorOf("SLOW_MODE", 30_000));
  });

  it("counts all connections of a user and calls from outside together", async () => {
    const { room, ada } = await slow();
    const tab = await room.join("ada");
    expect(await post(ada)).toMatchObject(OK);
    expect(await post(tab)).toEqual(refusalOf("SLOW_MODE"));
    expect(await room.ask("chat-message", "ada", { content: "x" })).toEqual(refusalOf("SLOW_MODE"));
  });

  it("holds through sleep, a crash, and leaving until the room has slept", async () => {
    const { room, ada, ben } = await slow();
    await post(ada);
    sleep(room);
    expect(await post(ada)).toEqual(errorOf("SLOW_MODE", 29_000));
    ada.leave();
    sleep(room);
    const back = await room.join("ada");
    expect(await post(back)).toEqual(errorOf("SLOW_MODE", 28_000));
    expect(await post(ben)).toMatchObject(OK);
    room.shell.crash();
    expect(await post(await room.join("ada"))).toEqual(errorOf("SLOW_MODE", 28_000));
  });

  it("counts a post that waits to be stored, until that fails", async () => {
    const { room, mia, ada, ben } = await slow(30, 50);
    await post(mia);
    const waiting = ada.call("chat-message", { content: "1" });
    const hasty = ada.call("chat-message", { content: "2" });
    expect(waiting.acks).toEqual([]);
    expect(hasty.answer).toEqual(refusalOf("SLOW_MODE"));
    room.quiet();
    expect(waiting.answer).toMatchObject(OK);
    room.log.failure = new Error("disk full");
    expect(await post(ben)).toEqual(refusalOf("INTERNAL"));
    room.log.failure = undefined;
    room.quiet();
    expect(await post(ben)).toMatchObject(OK);
  });

  it("does not count refused posts", async () => {
    const { ada, room } = await slow();
    const bad = [{}, { content: " " }, { content: "x".repeat(1001) }, { content: "x", replyTo: "nothing" }];
    for (const payload of bad) expect(await ada.ask("chat-message", payload)).toHaveProperty("error");
    expect(await post(ada)).toMatchObject(OK);
    room.quiet();
  });

  it("counts from the last post when the interval changes, also from one before that", async () => {
    const { room, mia, ada } = await slow();
    await post(ada);
    room.shell.advance(40_000);
    await mia.ask("slow-mode", { seconds: 60 });
    expect(await post(ada)).toEqual(errorOf("SLOW_MODE", 20_000));
    await mia.ask("slow-mode", { seconds: 10 });
    expect(await post(ada)).toMatchObject(OK);
    await mia.ask("slow-mode", { seconds: 0 });
    for (let i = 0; i < 3; i++) expect(await post(ada)).toMatchObject(OK);
  });

  it("counts no earlier posts where the log cannot be read, and disconnects no member", async () => {
    const { room, ada } = await slow();
    await post(ada);
    sleep(room);
    const reading = vi.spyOn(room.log, "descending").mockImplementation(() => {
      throw new Error("disk on fire");
    });
    expect(await post(ada)).toMatchObject(OK);
    expect(await post(ada)).toEqual(refusalOf("SLOW_MODE"));
    expect(room.shell.problems).toHaveLength(1);
    reading.mockRestore();
  });

  it("holds for more than a thousand users, and forgets them afterwards", async () => {
    const { room } = await slow(1);
    const say = (user: string): Promise<unknown> => room.ask("chat-message", user, { content: "x" });
    for (let i = 0; i < 1300; i++) {
      await say(`u${i}`);
      if (i % 100 === 0) room.shell.advance(1100);
    }
    expect(await say("u1299")).toEqual(refusalOf("SLOW_MODE"));
    expect(await say("u0")).toMatchObject(OK);
  });
});

describe("MOD-10: a post sent again", () => {
  const silence: Record<string, (mia: Client) => Promise<unknown>> = {
    MUTED: (mia) => mia.ask("mute", { user: "ada", seconds: 60 }),
    ROOM_READ_ONLY: (mia) => mia.ask("read-only", { on: true }),
    SLOW_MODE: (mia) => mia.ask("slow-mode", { seconds: 60 }),
  };

  it.each(Object.keys(silence))("gets the first answer again where a new post is %s", async (code) => {
    const { room, mia, ada, ben } = await cast();
    const first = await ada.ask("chat-message", { content: "x", clientMsgId: "c" });
    await silence[code]!(mia);
    sleep(room);
    const again = await ada.ask("chat-message", { content: "x", clientMsgId: "c" });
    expect(again).toEqual({ ...first, duplicate: true });
    expect(await ada.ask("chat-message", { content: "y", clientMsgId: "d" })).toEqual(refusalOf(code));
    expect(ben.received("chat-message")).toHaveLength(1);
  });

  it("gets the answer of the first while that waits to be stored", async () => {
    const { room, mia, ada } = await cast({ flushWindowMs: 50 });
    await mia.ask("slow-mode", { seconds: 60 });
    await post(mia);
    const calls = [1, 2].map(() => ada.call("chat-message", { content: "x", clientMsgId: "c" }));
    room.quiet();
    expect(calls.map(({ answer }) => answer)).toMatchObject([{ seq: 2 }, { seq: 2, duplicate: true }]);
    expect(await post(ada)).toEqual(errorOf("SLOW_MODE", 59_050));
  });

  it("is refused like a new post where the log cannot be read", async () => {
    const { room, mia, ada } = await cast();
    await mia.ask("mute", { user: "ada", seconds: 60 });
    const reading = vi.spyOn(room.log, "descending").mockImplementation(() => {
      throw new Error("disk on fire");
    });
    expect(await ada.ask("chat-message", { content: "x", clientMsgId: "c" })).toEqual(refusalOf("MUTED"));
    reading.mockRestore();
    expect(room.log.messages).toEqual([]);
  });
});
