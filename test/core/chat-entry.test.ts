// Who gets into a room, how long they may stay, and how a fresh token prolongs it.
import { describe, expect, it } from "vitest";

import { PRESENCE_WINDOW_MS } from "../../src/chat/presence.ts";
import { ChatRoom, expiresIn, ROOM } from "./chat-room.ts";

const noticeOf = (code: string): object => ({ code, message: expect.any(String) });

describe("a CONNECT is refused", () => {
  it.each<[what: string, auth: object | undefined]>([
    ["no auth", undefined],
    ["no token", {}],
    ["an empty token", { token: "" }],
    ["a token that is no string", { token: 7 }],
    ["a token that is not believed", { token: "forged" }],
    ["a token hidden in a prototype", JSON.parse('{"__proto__":{"token":"token-0"}}')],
  ])("UNAUTHORIZED: %s", async (_what, auth) => {
    const room = new ChatRoom();
    room.token("ada");
    const client = await room.shell.connect({}, auth);
    expect(client.refusal).toEqual({ message: expect.any(String), data: { code: "UNAUTHORIZED" } });
    expect(client.received("welcome")).toEqual([]);
    expect(client.closing).toBeUndefined();
  });

  it("TOKEN_EXPIRED: the token has ended, in the CONNECT or since the upgrade", async () => {
    const room = new ChatRoom();
    const token = room.token({ user: "ada", exp: expiresIn(5) });
    const vouched = room.shell.open({ identity: { user: "ada", name: "ada", role: "member", exp: expiresIn(5) } });
    room.shell.advance(5000);
    await vouched.connect();
    for (const { refusal } of [vouched, await room.joinWithToken(token)]) {
      expect(refusal).toEqual({ message: expect.any(String), data: { code: "TOKEN_EXPIRED" } });
    }
  });

  it("FORBIDDEN_ROOM: the token's rooms do not name this one", async () => {
    const room = new ChatRoom();
    for (const rooms of [[], ["other"], ["lob"], ["lobby2*"], ["LOBBY"]]) {
      const client = await room.joinWithToken(room.token({ user: "ada", rooms }));
      expect(client.refusal).toMatchObject({ data: { code: "FORBIDDEN_ROOM" } });
    }
    for (const rooms of [[ROOM], ["other", "lob*"], ["*"]]) {
      const client = await room.joinWithToken(room.token({ user: "ada", rooms }));
      expect(client.received("welcome")).toHaveLength(1);
    }
  });

  it("ROOM_FULL: the room holds MAX_MEMBERS sockets, until one goes", async () => {
    const room = new ChatRoom({ maxMembers: 2 });
    const ada = await room.join("ada");
    await room.join("ada");
    const late = await room.join("ben");
    expect(late.refusal).toMatchObject({ data: { code: "ROOM_FULL" } });
    ada.leave();
    await late.connect();
    expect(late.received("welcome")).toHaveLength(1);
  });

  it("ROOM_FULL: two who ask for the last place at the same moment do not both get it", async () => {
    const room = new ChatRoom({ maxMembers: 1 });
    const clients = await Promise.all(["ada", "ben"].map((user) => room.joinWithToken(room.token(user))));
    expect(clients.flatMap((client) => client.received("welcome"))).toHaveLength(1);
    expect(clients.map(({ refusal }) => refusal?.data.code)).toContain("ROOM_FULL");
  });

  it("and leaves no trace: nobody hears of it, and the client may try again with a good token", async () => {
    const room = new ChatRoom();
    const ada = await room.join("ada");
    room.quiet();
    const heard = ada.packets.length;
    const client = await room.joinWithToken("forged");
    room.quiet();
    expect(ada.packets).toHaveLength(heard);
    await client.connect({ token: room.token("ben") });
    expect(client.received("welcome")).toMatchObject([{ user: "ben", presence: { count: 2 } }]);
  });
});

describe("a CONNECT whose token is being verified", () => {
  it("changes nothing where the client goes meanwhile", async () => {
    const room = new ChatRoom();
    const ada = await room.join("ada");
    const verifying = Promise.withResolvers<void>();
    room.authenticating = verifying.promise;
    const client = room.shell.open();
    client.send(`40${JSON.stringify({ token: room.token("ben") })}`);
    client.leave();
    verifying.resolve();
    await room.shell.settle();
    room.quiet();
    expect(await ada.ask("presence", {})).toMatchObject({ count: 1 });
    expect(room.shell.reports).toEqual([]);
  });
});

describe("when a token ends", () => {
  it("the socket gets a notice and is disconnected, and the others hear that its user left", async () => {
    const room = new ChatRoom();
    const ada = await room.join({ user: "ada", exp: expiresIn(3600) });
    const ben = await room.join("ben");
    room.shell.advance(3_599_999);
    expect(ada.received("notice")).toEqual([]);
    room.shell.advance(1);
    expect(ada.received("notice")).toEqual([noticeOf("TOKEN_EXPIRED")]);
    expect(ada.frames.findLast((frame) => frame !== "2")).toBe("41");
    expect(ben.received("notice")).toEqual([]);
    room.shell.advance(PRESENCE_WINDOW_MS);
    expect(ben.received("presence").at(-1)).toEqual({ count: 1, joined: [], left: [{ user: "ada" }] });
  });

  it("each of a room's tokens ends at its own time, after sleep too", async () => {
    const room = new ChatRoom();
    const people = await Promise.all(
      [30, 20, 40].map((seconds, i) => room.join({ user: `u${i}`, exp: expiresIn(seconds) })),
    );
    const expired = (): number[] => people.map((person) => person.received("notice").length);
    room.shell.advance(20_000);
    expect(expired()).toEqual([0, 1, 0]);
    room.shell.evict();
    room.shell.advance(10_000);
    expect(expired()).toEqual([1, 1, 0]);
    room.shell.evict();
    room.shell.advance(10_000);
    expect(expired()).toEqual([1, 1, 1]);
  });
});

describe("refresh-token", () => {
  it("prolongs the stay, also over sleep", async () => {
    const room = new ChatRoom();
    const ada = await room.join({ user: "ada", exp: expiresIn(60) });
    room.shell.advance(50_000);
    const answer = await ada.ask("refresh-token", { token: room.token({ user: "ada", exp: expiresIn(200) }) });
    expect(answer).toEqual({ ok: true, exp: expiresIn(200) });
    room.shell.advance(50_000);
    room.shell.evict();
    room.shell.advance(99_999);
    expect(ada.received("notice")).toEqual([]);
    room.shell.advance(1);
    expect(ada.received("notice")).toEqual([noticeOf("TOKEN_EXPIRED")]);
  });

  it("takes a token that never ends", async () => {
    const room = new ChatRoom();
    const ada = await room.join({ user: "ada", exp: expiresIn(60) });
    expect(await ada.ask("refresh-token", { token: room.token("ada") })).toEqual({ ok: true, exp: null });
    room.shell.advance(3_600_000);
    expect(ada.received("notice")).toEqual([]);
  });

  it("brings the role of the new token", async () => {
    const room = new ChatRoom();
    const ada = await room.join({ user: "ada", role: "reader" });
    await ada.ask("refresh-token", { token: room.token("ada") });
    expect(await ada.ask("chat-message", { content: "hello" })).toMatchObject({ ok: true });
  });

  it("refuses another user's token, a bad one, an expired one, one for other rooms, and none", async () => {
    const room = new ChatRoom();
    const ada = await room.join({ user: "ada", exp: expiresIn(60) });
    const attempts: Array<[payload: unknown, code: string]> = [
      [{ token: room.token("ben") }, "FORBIDDEN"],
      [{ token: "forged" }, "UNAUTHORIZED"],
      [{ token: room.token({ user: "ada", exp: expiresIn(-1) }) }, "TOKEN_EXPIRED"],
      [{ token: room.token({ user: "ada", rooms: ["other"] }) }, "FORBIDDEN"],
      [{ token: "" }, "INVALID_PAYLOAD"],
      [{}, "INVALID_PAYLOAD"],
    ];
    for (const [payload, code] of attempts) {
      expect(await ada.ask("refresh-token", payload)).toMatchObject({ error: { code } });
    }
    expect(ada.closing).toBeUndefined();
    room.shell.advance(60_000);
    expect(ada.received("notice")).toEqual([noticeOf("TOKEN_EXPIRED")]);
  });

  it("comes to nothing where the client goes while it is verified", async () => {
    const room = new ChatRoom();
    const ada = await room.join("ada");
    const verifying = Promise.withResolvers<void>();
    room.authenticating = verifying.promise;
    const call = ada.call("refresh-token", { token: room.token("ada") });
    ada.leave();
    verifying.resolve();
    await room.shell.settle();
    expect(call.acks).toEqual([]);
    expect(room.shell.reports).toEqual([]);
  });
});
