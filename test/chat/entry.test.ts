// Admission to a room, and its refusals.
import { describe, expect, it } from "vitest";

import { CLOSINGS } from "../../src/socketio/wire/closings.ts";
import { ChatRoom, expiresIn, identityOf, RECOVERS, recoveryAuthOf, ROOM } from "../host/chat-room.ts";

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
    const vouched = room.shell.open({ identity: identityOf({ user: "ada", exp: expiresIn(5) }) });
    room.shell.advance(5000);
    await vouched.connect();
    for (const { refusal } of [vouched, await room.joinWithToken(token)]) {
      expect(refusal).toEqual({ message: expect.any(String), data: { code: "TOKEN_EXPIRED" } });
    }
  });

  it("SIO-13: without keys the connection is closed, so that a stock client comes back; members stay", async () => {
    const room = new ChatRoom();
    const ada = await room.join("ada");
    const token = room.token("ben");
    room.keysUnavailableMs = 4000;
    const ben = await room.joinWithToken(token);
    expect(ben.closing).toBeUndefined();
    room.shell.advance(4000);
    expect(ben.closing).toEqual(CLOSINGS.tryLater);
    expect(ben.refusal).toBeUndefined();
    expect(ada.closing).toBeUndefined();
    room.keysUnavailableMs = undefined;
    expect((await room.joinWithToken(token)).received("welcome")).toMatchObject([{ user: "ben" }]);
  });

  it("FORBIDDEN_ROOM: the token's rooms do not name this one", async () => {
    const room = new ChatRoom();
    for (const rooms of [[], ["other"], ["pla"], ["plaza2*"], ["PLAZA"]]) {
      const client = await room.joinWithToken(room.token({ user: "ada", rooms }));
      expect(client.refusal).toMatchObject({ data: { code: "FORBIDDEN_ROOM" } });
    }
    for (const rooms of [[ROOM], ["other", "pla*"], ["*"]]) {
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

  it("ROOM_FULL: of two users who connect at the same moment, one gets the last socket", async () => {
    const room = new ChatRoom({ maxMembers: 1 });
    const clients = await Promise.all(["ada", "ben"].map((user) => room.joinWithToken(room.token(user))));
    expect(clients.flatMap((client) => client.received("welcome"))).toHaveLength(1);
    expect(clients.map(({ refusal }) => refusal?.data.code)).toContain("ROOM_FULL");
  });

  it("LIM-7: a user has MAX_CONNECTIONS_PER_USER sockets, until one goes; others come in", async () => {
    const room = new ChatRoom({ maxConnectionsPerUser: 2 });
    const [first] = [await room.join("ada"), await room.join("ada")];
    const third = await room.join("ada");
    expect(third.refusal).toMatchObject({ data: { code: "TOO_MANY_CONNECTIONS" } });
    expect((await room.join("ben")).received("welcome")).toHaveLength(1);
    first.leave();
    await third.connect();
    expect(third.received("welcome")).toHaveLength(1);
  });

  it("LIM-7: a recovering client replaces the socket that it recovers", async () => {
    const room = new ChatRoom({ maxConnectionsPerUser: 1 });
    const ada = await room.join("ada", RECOVERS);
    const back = await room.join("ada", RECOVERS, recoveryAuthOf(ada));
    expect(back.refusal).toBeUndefined();
    expect(recoveryAuthOf(back).pid).toBe(recoveryAuthOf(ada).pid);
  });

  it("members get no event of it, and the client may try again with a good token", async () => {
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
  it("changes nothing where the client disconnects meanwhile", async () => {
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
    expect(room.shell.problems).toEqual([]);
  });
});
