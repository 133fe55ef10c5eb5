// Tokens in an application of one's own, over real keys: the whiteboard, which has no code for them.
import { env } from "cloudflare:workers";
import { jwt, type Authenticate } from "parley-rooms/socketio";
import { expect, it, onTestFinished, vi } from "vitest";

import { TestClock } from "../../kit/testing.ts";
import { PacketType } from "../../wire/wire-client.ts";
import { RawClient, upgrade } from "../raw-client.ts";
import { serving } from "./worker.ts";
import { begin, drop, enter, evict, tokenFor, whoami } from "./painters.ts";

const codeOf = (error: unknown): unknown => (error as { data?: { code?: unknown } }).data?.code;
const refused = (room: string, auth: object): Promise<unknown> =>
  RawClient.open({ room }).then((client) => client.connect(auth).then(() => "let in", codeOf));

it("TOK-4: by default a CONNECT needs a token that opens the room", async () => {
  const tokens: Array<[auth: object, code: string]> = [
    [{}, "UNAUTHORIZED"],
    [{ token: "forged" }, "UNAUTHORIZED"],
    [{ token: await tokenFor("ada", {}, -10) }, "TOKEN_EXPIRED"],
    [{ token: await tokenFor("ada", { rooms: ["other"] }) }, "FORBIDDEN_ROOM"],
    [{ token: await tokenFor("ada", { rooms: ["bo*"] }) }, "let in"],
  ];
  for (const [auth, code] of tokens) expect(await refused("board", auth)).toBe(code);
});

it("TOK-4: a token in the request is verified before the room is called, and names the socket's user", async () => {
  const room = "seen-board";
  const verify = jwt({ secret: env.JWT_SECRET });
  const authenticate: Authenticate = (_request, { room, token }) =>
    token === undefined ? undefined : verify(token, room);
  const fetcher = serving(env.WHITEBOARD, { authenticate });
  const statusOf = async (token: string): Promise<number> =>
    (await upgrade({ room, fetcher, headers: { Authorization: `Bearer ${token}` } })).status;
  expect(await statusOf("forged")).toBe(401);
  expect(await statusOf(await tokenFor("ada", { rooms: ["other"] }))).toBe(403);
  const ada = await RawClient.open({ room, fetcher, headers: { Authorization: `Bearer ${await tokenFor("ada")}` } });
  await ada.connect();
  expect(await whoami(ada)).toMatchObject({ user: "ada" });
});

it("TOK-2, TOK-3: a token ends, also in an object that slept; refreshed, it goes on", async () => {
  const room = "ending-board";
  const clock = new TestClock();
  onTestFinished(() => clock.stop());
  const [brief, long] = [await RawClient.open({ room }), await RawClient.open({ room })];
  for (const client of [brief, long]) await client.connect({ token: await tokenFor("ada", {}, 60) });
  const fresh = { token: await tokenFor("ada") };
  expect(await long.ask("refresh-token", fresh)).toEqual({ ok: true, exp: expect.any(Number) });
  await evict(room, "hibernate");
  await clock.advance(61_000, env.WHITEBOARD.getByName(room));
  expect(await brief.receives("notice", 2)).toMatchObject([{ code: "TOKEN_EXPIRING" }, { code: "TOKEN_EXPIRED" }]);
  await brief.receivesPacket(PacketType.DISCONNECT);
  expect(await whoami(long)).toMatchObject({ user: "ada" });
  expect(long.received("notice")).toEqual([]);
});

it("a verify in JavaScript that returns no user lets nobody in, and a user may have fields of any name", async () => {
  const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const fetcher = serving(env.MISTAKEN);
  for (const room of ["agreeing", "fetching", "numbering", "nameless", "dating", "timeless", "undecided"]) {
    const client = await RawClient.open({ room, fetcher });
    expect([room, await client.connect({ token: "any" }).then(() => "let in", codeOf)]).toEqual([room, "INTERNAL"]);
    expect(String(log.mock.lastCall)).toContain("verify gave no user");
  }
  log.mockRestore();
  const ada = await RawClient.open({ room: "wide", fetcher });
  await ada.connect({ token: "any" });
  expect(await ada.ask("whoami")).toMatchObject({ user: "ada", name: "ada" });
});

it("REC-3: a client cannot recover another user's socket", async () => {
  const { room, ada, recoveryAuth } = await begin();
  await drop(ada);
  const thief = await enter(room, { ...recoveryAuth, token: await tokenFor("thief") });
  expect(await whoami(thief)).toMatchObject({ user: "thief", recovered: false });
  expect(await thief.ask("whoami")).not.toMatchObject({ id: recoveryAuth.sid });
});
