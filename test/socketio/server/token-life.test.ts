// A token's life in an open connection: announced, refreshed, ended.
import { describe, expect, it } from "vitest";

import { EXPIRY_GATHER_MS, EXPIRY_WARNING_MS } from "../../../src/socketio/server/token-life.ts";
import { ChatRoom, expiresIn } from "../../host/chat-room.ts";
import type { Client } from "../../host/harness.ts";

const WARNING_S = EXPIRY_WARNING_MS / 1000;

const noticesTo = (client: Client): string[] => client.received<{ code: string }>("notice").map(({ code }) => code);

describe("TOK-1: before the end of a token", () => {
  it("its client gets one notice, with the remaining time", async () => {
    const room = new ChatRoom();
    const ada = await room.join({ user: "ada", exp: expiresIn(3600) });
    const ben = await room.join("ben");
    room.shell.advance(3_600_000 - EXPIRY_WARNING_MS - 1);
    expect(noticesTo(ada)).toEqual([]);
    room.shell.advance(1);
    expect(ada.received("notice")).toEqual([{ code: "TOKEN_EXPIRING", message: expect.stringContaining(" 60 s") }]);
    room.shell.advance(EXPIRY_WARNING_MS - 1);
    expect(noticesTo(ada)).toEqual(["TOKEN_EXPIRING"]);
    expect(noticesTo(ben)).toEqual([]);
  });

  it("the notice for a short one comes after half of its time", async () => {
    const room = new ChatRoom();
    const ada = await room.join({ user: "ada", exp: expiresIn(2 * WARNING_S - 20) });
    room.shell.advance(EXPIRY_WARNING_MS - 10_001);
    expect(noticesTo(ada)).toEqual([]);
    room.shell.advance(1);
    expect(noticesTo(ada)).toEqual(["TOKEN_EXPIRING"]);
  });

  it("notices that are due soon after are sent in the same wake", async () => {
    const room = new ChatRoom();
    const people: Client[] = [];
    const gatherS = EXPIRY_GATHER_MS / 1000;
    for (const seconds of [600, 600 + gatherS, 601 + gatherS]) {
      people.push(await room.join({ user: `u${seconds}`, exp: expiresIn(seconds) }));
    }
    room.shell.advance(600_000 - EXPIRY_WARNING_MS);
    expect(people.map(noticesTo)).toEqual([["TOKEN_EXPIRING"], ["TOKEN_EXPIRING"], []]);
  });
});

describe("TOK-2: when a token ends", () => {
  it("the socket gets a notice and is disconnected, and others get the leave of its user", async () => {
    const room = new ChatRoom();
    const ada = await room.join({ user: "ada", exp: expiresIn(3600) });
    const ben = await room.join("ben");
    room.shell.advance(3_599_999);
    expect(noticesTo(ada)).not.toContain("TOKEN_EXPIRED");
    room.shell.advance(1);
    expect(ada.received("notice").at(-1)).toEqual({ code: "TOKEN_EXPIRED", message: expect.any(String) });
    expect(ada.frames.findLast((frame) => frame !== "2")).toBe("41");
    expect(ben.received("notice")).toEqual([]);
    room.afterGrace();
    expect(ben.received("presence").at(-1)).toEqual({ count: 1, joined: [], left: [{ user: "ada" }] });
  });

  it("each of a room's tokens ends at its own time, after sleep too", async () => {
    const room = new ChatRoom();
    const people = await Promise.all(
      [30, 20, 40].map((seconds, i) => room.join({ user: `u${i}`, exp: expiresIn(seconds) })),
    );
    const expired = (): boolean[] => people.map((person) => noticesTo(person).includes("TOKEN_EXPIRED"));
    room.shell.advance(20_000);
    expect(expired()).toEqual([false, true, false]);
    room.shell.evict();
    room.shell.advance(10_000);
    expect(expired()).toEqual([true, true, false]);
    room.shell.evict();
    room.shell.advance(10_000);
    expect(expired()).toEqual([true, true, true]);
  });

  it("the room does not wake for one whose socket ended, or that was refreshed", async () => {
    const room = new ChatRoom();
    await room.join("ada");
    const ben = await room.join({ user: "ben", exp: expiresIn(30) });
    const cleo = await room.join({ user: "cleo", exp: expiresIn(20) });
    room.quiet();
    expect(room.shell.quietMs).toBe(9000);
    await cleo.ask("refresh-token", { token: room.token("cleo") });
    expect(room.shell.quietMs).toBe(14_000);
    ben.leave();
    room.afterGrace();
    expect(room.shell.quietMs, "the next heartbeat").toBeGreaterThan(30_000);
  });
});

describe("TOK-3: refresh-token", () => {
  it("brings the role of the new token", async () => {
    const room = new ChatRoom();
    const ada = await room.join({ user: "ada", role: "reader" });
    await ada.ask("refresh-token", { token: room.token("ada") });
    expect(await ada.ask("chat-message", { content: "hello" })).toMatchObject({ ok: true });
  });

  it("TOK-5: without keys, the answer names the time of the next try, and the connection stays until its old token ends", async () => {
    const room = new ChatRoom();
    const ada = await room.join({ user: "ada", exp: expiresIn(60) });
    const token = room.token({ user: "ada", exp: expiresIn(200) });
    room.keysUnavailableMs = 4000;
    expect(await ada.ask("refresh-token", { token })).toEqual({
      error: { code: "UNAVAILABLE", message: expect.any(String), retryAfterMs: 4000 },
    });
    room.shell.advance(59_999);
    expect(ada.closing).toBeUndefined();
    expect(await ada.ask("chat-message", { content: "still here" })).toMatchObject({ ok: true });
    room.keysUnavailableMs = undefined;
    expect(await ada.ask("refresh-token", { token })).toEqual({ ok: true, exp: expiresIn(200) });
    room.shell.advance(1);
    expect(noticesTo(ada)).not.toContain("TOKEN_EXPIRED");
  });

  it("has no effect if the client is gone before it is verified", async () => {
    const room = new ChatRoom();
    const ada = await room.join("ada");
    const verifying = Promise.withResolvers<void>();
    room.authenticating = verifying.promise;
    const call = ada.call("refresh-token", { token: room.token("ada") });
    ada.leave();
    verifying.resolve();
    await room.shell.settle();
    expect(call.acks).toEqual([]);
    expect(room.shell.problems).toEqual([]);
  });
});
