// The identity of sockets in any application: tokens verified at CONNECT, ended in time and refreshed.
/* oxlint-disable unicorn/no-thenable -- values of applications may have a field `then` */
import { describe, expect, it } from "vitest";

import type { Frame } from "../../../src/socketio/wire/engine-io.ts";
import type { Authentication, Identity } from "../../../src/protocol/identity.ts";
import { roomAllowed } from "../../../src/protocol/room-name.ts";
import { Namespace, type ConnectRequest, type AuthorizeResult } from "../../../src/socketio/server/namespace.ts";
import { CONNECTS_MAX } from "../../../src/socketio/engine/session-flood.ts";
import type { Socket } from "../../../src/socketio/server/socket.ts";
import { bareServer } from "../../host/bare-server.ts";
import { identityOf, expiresIn } from "../../host/chat-room.ts";
import { FakeShell, START_MS, type Client } from "../../host/harness.ts";

type Person = Socket<Record<string, (...args: unknown[]) => void>, { name?: string; role?: string }>;

/** An application that asks nothing of its own. */
class Board extends Namespace {
  readonly asked: ConnectRequest[] = [];
  readonly handlers = {
    whoami: ({ user, data }: Person, ack: (answer: unknown) => void) => ack({ user, ...data }),
  };

  constructor() {
    super();
    this.use((request) => void this.asked.push(request));
  }
}

/** A namespace that keeps the identity in `socket.data`. */
class Named extends Board {
  override authorize({ identity }: ConnectRequest<Identity>): AuthorizeResult<{ name: string; role: string }> {
    return { accepted: true, data: { name: identity!.name, role: identity!.role } };
  }

  override onRefresh(socket: Person, { name, role }: Identity): void {
    socket.data = { name, role };
  }
}

class Open extends Board {
  override readonly authenticate = "anybody";
}

/** The users of tokens: they are JSON, but for those that are no token at all. */
async function authenticate(token: string): Promise<Authentication> {
  if (token === "ended") return { ok: false, code: "TOKEN_EXPIRED", message: "The token has expired" };
  if (!token.startsWith("{")) return { ok: false, code: "UNAUTHORIZED", message: "The token is not valid" };
  return { ok: true, identity: identityOf(JSON.parse(token) as Identity) };
}

/** The room whose tokens are verified. */
const RED = { room: "red", opens: ({ rooms }: Identity) => roomAllowed(rooms, "red") };

const tokenOf = (user: string, claims: Partial<Identity> = {}): string => JSON.stringify({ user, ...claims });

function open(create: () => Readonly<Record<string, Namespace>> = () => ({ "/": new Board() })): FakeShell {
  return new FakeShell(create, { tokens: { ...RED, authenticate } });
}

const noticesTo = (client: Client): string[] => client.received<{ code: string }>("notice").map(({ code }) => code);

describe("TOK-4: the token of a CONNECT names its user", () => {
  it("and the application gets the identity without code of its own", async () => {
    const ada = await open().connect({}, { token: tokenOf("ada") });
    expect(ada.call("whoami").answer).toEqual({ user: "ada" });
    const ben = await open(() => ({ "/": new Named() })).connect({}, { token: tokenOf("ben", { name: "Ben" }) });
    expect(ben.call("whoami").answer).toEqual({ user: "ben", name: "Ben", role: "member" });
  });

  const refused: Array<[given: string, auth: object | undefined, code: string]> = [
    ["nothing", undefined, "UNAUTHORIZED"],
    ["no token", {}, "UNAUTHORIZED"],
    ["an empty one", { token: "" }, "UNAUTHORIZED"],
    ["what is no text", { token: { user: "ada" } }, "UNAUTHORIZED"],
    ["a forged one", { token: "forged" }, "UNAUTHORIZED"],
    ["one that has ended", { token: tokenOf("ada", { exp: expiresIn(0) }) }, "TOKEN_EXPIRED"],
    ["one for other rooms", { token: tokenOf("ada", { rooms: ["blue", "re"] }) }, "FORBIDDEN_ROOM"],
  ];
  it.each(refused)(
    "with %s it is refused, and neither middleware nor namespace is asked",
    async (_given, auth, code) => {
      const board = new Board();
      const shell = open(() => ({ "/": board }));
      const nobody = await shell.connect({}, auth);
      expect(nobody.refusal).toEqual({ message: expect.any(String), data: { code } });
      expect(board.asked).toEqual([]);
      expect(nobody.closing).toBeUndefined();
      expect(shell.problems).toEqual([]);
    },
  );

  it.each([["red"], ["re*"], ["*"]])("rooms may be named as %s", async (rule) => {
    const ada = await open().connect({}, { token: tokenOf("ada", { rooms: [rule] }) });
    expect(ada.refusal).toBeUndefined();
  });

  it("the one in the request counts until it has ended, then a fresh one in auth", async () => {
    const shell = open();
    const vouched = { identity: identityOf({ user: "ada", exp: expiresIn(30) }) };
    const early = shell.open(vouched);
    await early.connect({ token: tokenOf("ben") });
    expect(early.call("whoami").answer).toEqual({ user: "ada" });
    const [late, later] = [shell.open(vouched), shell.open(vouched)];
    shell.nowMs += 30_000;
    await late.connect();
    expect(late.refusal).toMatchObject({ data: { code: "TOKEN_EXPIRED" } });
    await later.connect({ token: tokenOf("ada", { exp: expiresIn(60) }) });
    expect(later.call("whoami").answer).toEqual({ user: "ada" });
    const foreign = await shell.connect({ identity: identityOf({ user: "ada", rooms: ["blue"] }) });
    expect(foreign.refusal).toMatchObject({ data: { code: "FORBIDDEN_ROOM" } });
  });

  const foreignFields: Array<[fields: object]> = [
    [{ accepted: true, data: { role: "moderator" } }],
    [{ accepted: false, message: "No." }],
    [{ refusal: { accepted: false, message: "No." } }],
    [{ identity: { user: "eve", name: "Eve" }, verdict: { accepted: true }, error: "none" }],
    [{ then: "June" }],
    [{ then: { catch: true }, catch: true, finally: 1 }],
    [{ ok: false, status: 401, statusText: "Unauthorized", headers: {}, body: null, redirected: false }],
    [{ code: "UNAUTHORIZED", message: "terms", passesInMs: 1000, retryAfterMs: 1000 }],
    [{ ok: false, code: "UNAUTHORIZED", message: "terms" }],
    [{ toString: 1, constructor: "x", prototype: null, length: 0 }],
  ];

  it.each(foreignFields)("a user with the fields %j passes middleware and authorize like any other", async (fields) => {
    for (const authorize of [
      ({ identity }: ConnectRequest) => ({ accepted: true as const, data: { seen: { ...identity } } }),
      () => ({ accepted: false as const, message: "not on the list" }),
    ]) {
      const board = new Board();
      board.authorize = authorize;
      const shell = open(() => ({ "/": board }));
      const identity = { ...identityOf({ user: "ada", exp: expiresIn(60) }), ...fields };
      const vouched = await shell.connect({ identity });
      const byToken = await shell.connect({}, { token: tokenOf("ada", { exp: expiresIn(60), ...fields }) });
      expect(board.asked).toMatchObject([{ identity: { user: "ada" } }, { identity: { user: "ada" } }]);
      for (const ada of [vouched, byToken]) {
        if (authorize.length === 0) expect(ada.refusal).toEqual({ message: "not on the list" });
        else expect(ada.call("whoami").answer).toEqual({ user: "ada", seen: expect.objectContaining(fields) });
      }
      shell.advance(60_000);
      const ended = authorize.length === 0 ? [] : ["TOKEN_EXPIRING", "TOKEN_EXPIRED"];
      for (const ada of [vouched, byToken]) expect(noticesTo(ada)).toEqual(ended);
      expect(shell.problems).toEqual([]);
    }
  });

  it("with authenticate = anybody, tokens are ignored, and none ends", async () => {
    const shell = open(() => ({ "/": new Open() }));
    const ada = await shell.connect({}, { token: "something of the application's own" });
    const ben = await shell.connect({ identity: identityOf({ user: "ben", exp: expiresIn(10) }) });
    shell.advance(20_000);
    for (const person of [ada, ben]) expect(person.call("whoami").answer).toEqual({});
    expect([...noticesTo(ada), ...noticesTo(ben)]).toEqual([]);
  });

  it("a namespace that is made on demand requires one, too", async () => {
    const sent: Frame[] = [];
    const server = bareServer({
      table: { static: {}, dynamic: [{ match: /\/board-\d/, create: () => new Board() }] },
      newId: () => "id",
      apply: (effects) => effects.forEach((effect) => effect.type === "send" && sent.push(...effect.frames)),
      tokens: { ...RED, authenticate },
    });
    const session = server.open({ address: "192.0.2.1", query: {}, issued: START_MS }, "websocket");
    await server.receive(session, "40/board-1,");
    await server.receive(session, `40/board-2,${JSON.stringify({ token: tokenOf("ada") })}`);
    expect(sent.slice(1)).toEqual([
      '44/board-1,{"message":"A token is required: auth.token","data":{"code":"UNAUTHORIZED"}}',
      '40/board-2,{"sid":"id"}',
    ]);
  });

  it("SIO-14: a failure of verifying is a refusal, and is reported to the operator alone", async () => {
    const shell = new FakeShell(() => ({ "/": new Board() }), {
      tokens: { ...RED, authenticate: () => Promise.reject(new Error("no key")) },
    });
    const ada = await shell.connect({}, { token: "t" });
    expect(ada.refusal).toEqual({ message: "Internal server error", data: { code: "INTERNAL" } });
    expect(ada.closing).toBeUndefined();
    expect(shell.problems).toMatchObject([{ error: { message: "no key" } }]);
  });
});

describe("TOK-1, TOK-2: a token's end, in any application", () => {
  it("is announced, and ends the socket, after sleep too; a token without end stays", async () => {
    const shell = open();
    const ada = await shell.connect({}, { token: tokenOf("ada", { exp: expiresIn(600) }) });
    const ben = await shell.connect({}, { token: tokenOf("ben") });
    shell.evict();
    shell.advance(540_000);
    expect(noticesTo(ada)).toEqual(["TOKEN_EXPIRING"]);
    shell.evict();
    shell.advance(59_999);
    expect(ada.call("whoami").answer).toEqual({ user: "ada" });
    shell.advance(1);
    expect(noticesTo(ada)).toEqual(["TOKEN_EXPIRING", "TOKEN_EXPIRED"]);
    expect(ada.frames.findLast((frame) => frame !== "2")).toBe("41");
    expect(noticesTo(ben)).toEqual([]);
  });

  it("the room wakes at the end of a token while any of its sockets is there", async () => {
    const shell = open();
    const brief = { token: tokenOf("ada", { exp: expiresIn(20) }) };
    const [ada, again] = [await shell.connect({}, brief), await shell.connect({}, brief)];
    await shell.connect({}, { token: tokenOf("ben", { exp: expiresIn(24) }) });
    shell.evict();
    ada.leave();
    expect(shell.quietMs).toBe(10_000);
    again.leave();
    expect(shell.quietMs).toBe(12_000);
  });
});

describe("TOK-3: refresh-token, in any application", () => {
  const fresh = (user: string, claims: Partial<Identity> = {}): object => ({ token: tokenOf(user, claims) });

  it("prolongs the stay, also over sleep, and the application gets the new identity", async () => {
    const shell = open(() => ({ "/": new Named() }));
    const ada = await shell.connect({}, { token: tokenOf("ada", { exp: expiresIn(60) }) });
    shell.advance(30_000);
    expect(noticesTo(ada)).toEqual(["TOKEN_EXPIRING"]);
    const renamed = fresh("ada", { exp: expiresIn(200), name: "Ada", role: "moderator" });
    expect(await ada.ask("refresh-token", renamed)).toEqual({ ok: true, exp: expiresIn(200) });
    shell.evict();
    shell.advance(70_000);
    expect(ada.call("whoami").answer).toEqual({ user: "ada", name: "Ada", role: "moderator" });
    shell.advance(100_000);
    expect(noticesTo(ada), "each token is announced").toEqual(["TOKEN_EXPIRING", "TOKEN_EXPIRING", "TOKEN_EXPIRED"]);
  });

  it("takes one that never ends", async () => {
    const shell = open();
    const ada = await shell.connect({}, { token: tokenOf("ada", { exp: expiresIn(60) }) });
    expect(await ada.ask("refresh-token", fresh("ada"))).toEqual({ ok: true, exp: null });
    shell.advance(600_000);
    expect(noticesTo(ada)).toEqual([]);
  });

  const refused: Array<[payload: unknown, code: string]> = [
    [fresh("ben"), "FORBIDDEN"],
    [{ token: "forged" }, "UNAUTHORIZED"],
    [{ token: "ended" }, "TOKEN_EXPIRED"],
    [fresh("ada", { rooms: ["blue"] }), "FORBIDDEN"],
    [{ token: "" }, "INVALID_PAYLOAD"],
    [{ token: 1 }, "INVALID_PAYLOAD"],
    [null, "INVALID_PAYLOAD"],
    ["text", "INVALID_PAYLOAD"],
  ];
  it.each(refused)("refuses %j with %s, and the old one goes on", async (payload, code) => {
    const shell = open();
    const ada = await shell.connect({}, { token: tokenOf("ada", { exp: expiresIn(60) }) });
    expect(await ada.ask("refresh-token", payload)).toEqual({ error: { code, message: expect.any(String) } });
    shell.advance(60_000);
    expect(noticesTo(ada)).toEqual(["TOKEN_EXPIRING", "TOKEN_EXPIRED"]);
    expect(shell.problems).toEqual([]);
  });

  it("without an ack, an error comes as event", async () => {
    const shell = open();
    const ada = await shell.connect({}, { token: tokenOf("ada") });
    ada.emit("refresh-token", { token: "forged" });
    await shell.settle();
    expect(ada.received("error")).toEqual([{ code: "UNAUTHORIZED", message: expect.any(String) }]);
    ada.emit("refresh-token");
    expect(ada.received("error")).toMatchObject([{}, { code: "INVALID_PAYLOAD" }]);
  });

  it("counts as a CONNECT: one too many ends the session (SIO-11)", async () => {
    const shell = open();
    const ada = await shell.connect({}, { token: tokenOf("ada") });
    for (let i = 1; i < CONNECTS_MAX; i++) await ada.ask("refresh-token", fresh("ada"));
    expect(ada.closing).toBeUndefined();
    ada.emit("refresh-token", fresh("ada"));
    expect(ada.closing).toMatchObject({ code: 4006 });
  });

  it("with authenticate = anybody it is an event without a meaning of its own", async () => {
    const shell = open(() => ({ "/": new Open() }));
    const ada = await shell.connect();
    expect(ada.call("refresh-token", fresh("ada")).acks).toEqual([]);
  });
});
