// connect: the way from a Worker to any object. Addresses, origins, users, limits, and refused requests.
/* oxlint-disable unicorn/no-thenable -- values of applications may have a field `then` */
import { env } from "cloudflare:workers";
import { connect, type Authenticate, type ConnectOptions } from "parley-rooms/socketio";
import { afterEach, beforeEach, describe, expect, it, vi, type MockInstance } from "vitest";

import { encodeUpgradeFacts, INNER_ORIGIN, UPGRADE_HEADER } from "../../../src/rpc/upgrade-header.ts";
import { TestClock } from "../../kit/testing.ts";
import { request, textOf } from "../poller.ts";
import { ORIGIN, RawClient, upgrade } from "../raw-client.ts";
import { PacketType } from "../../wire/wire-client.ts";
import { serving } from "./worker.ts";

let log: MockInstance;
beforeEach(() => void (log = vi.spyOn(console, "error").mockImplementation(() => undefined)));
afterEach(() => vi.restoreAllMocks());

let rooms = 0;
const freshRoom = (): string => `sketch-${++rooms}`;
const HANDSHAKE = "?EIO=4&transport=polling";
const object: ConnectOptions["object"] = (room) => env.SKETCH.getByName(room);

async function answerTo(
  address: string,
  options: Partial<ConnectOptions> = {},
  init: RequestInit = {},
): Promise<{ status: number; text: string; headers: Headers }> {
  const asked = new Request(new URL(address, ORIGIN), init);
  const response = await connect(asked, { object, ...options });
  return { status: response.status, text: await response.text(), headers: response.headers };
}

describe("addresses", () => {
  const named: Array<[address: string, room: string]> = [
    ["/socket.io/", "global"],
    ["/socket.io", "global"],
    ["/socket.io/?room=plans", "plans"],
    ["/rooms/plans/socket.io/", "plans"],
    ["/rooms/plans/socket.io", "plans"],
    ["/rooms/plans/socket.io?room=other", "plans"],
    ["/rooms/a~b.c_d-e/socket.io/", "a~b.c_d-e"],
    ["/rooms/%70lans/socket.io/", "plans"],
  ];

  it.each(named)("%s is room %s, at the root and behind a path", async (address, room) => {
    for (const path of ["", "/boards", "/a/b.c/"]) {
      const asked: string[] = [];
      const url = `${path.replace(/\/$/, "")}${address}${address.includes("?") ? "&" : "?"}EIO=4&transport=polling`;
      const { status, text } = await answerTo(url, { path, object: (name) => (asked.push(name), object(name)) });
      expect([status, text.slice(0, 8), asked]).toEqual([200, '0{"sid":', [room]]);
    }
  });

  const bad = ["a%2Fb", "%", "%00", "x".repeat(65), "__proto__"];

  it.each(bad)("room %j is refused before any object is asked", async (room) => {
    const asked: string[] = [];
    const options = { object: (name: string) => (asked.push(name), object(name)) };
    const inPath = await answerTo(`/rooms/${room}/socket.io/${HANDSHAKE}`, options);
    expect(inPath.status).toBe(400);
    const inQuery = await answerTo(`/socket.io/${HANDSHAKE}&room=${encodeURIComponent(room)}`, options);
    expect([inQuery.status, JSON.parse(inQuery.text)]).toMatchObject([400, { error: { code: "BAD_ROOM" } }]);
    expect(asked).toEqual([]);
  });

  const others = [
    "/",
    "/boards",
    "/boards/",
    "/boards/rooms/socket.io",
    "/rooms/a/b/socket.io",
    "/socket.io/x",
    "/boardsocket.io/",
    // The chat's.
    "/health",
    "/metrics",
    "/openapi.json",
    "/api/rooms",
    "/api/guest",
    "/files/general/e1/f1",
  ];

  it.each(["/socket.io/socket.io.js", "/boards/socket.io/socket.io.esm.min.js.map"])(
    "%s, as a server on Node has it: 404, which says what to do",
    async (address) => {
      const { status, text } = await answerTo(address, address.startsWith("/boards") ? { path: "/boards" } : {});
      expect([status, text]).toEqual([404, expect.stringContaining("bundle socket.io-client, copy its dist/ to")]);
    },
  );

  it.each(others)("%s is not its own: 404, or the answer of `otherwise`", async (address) => {
    expect(await answerTo(address + HANDSHAKE)).toMatchObject({ status: 404 });
    const otherwise = (asked: Request): Response => new Response(`mine: ${new URL(asked.url).pathname}`);
    expect(await answerTo(address, { otherwise, path: "/boards" })).toMatchObject({ text: `mine: ${address}` });
  });

  it("a room that the application names may have any text of 1 to 256 characters; without one the address names it", async () => {
    const nameRoom = (asked: Request): string | undefined => new URL(asked.url).searchParams.get("board") ?? undefined;
    const answers = async (query: string) => {
      const asked: string[] = [];
      const options = { room: nameRoom, object: (name: string) => (asked.push(name), object(name)) };
      const { status } = await answerTo(`/rooms/plans/socket.io/${HANDSHAKE}${query}`, options);
      return [status, asked];
    };
    expect(await answers("&board=a%20b%2F%C3%A7")).toEqual([200, ["a b/ç"]]);
    expect(await answers("")).toEqual([200, ["plans"]]);
    expect(await answers(`&board=${"x".repeat(257)}`)).toEqual([400, []]);
    expect(await answers("&board=")).toEqual([400, []]);
  });

  it("a room that the application names by no text is an error that says so", async () => {
    const room = (() => 5) as never;
    await expect(answerTo(`/socket.io/${HANDSHAKE}`, { room })).rejects.toThrow("connect: room: must return a text");
  });

  it("a client speaks to one object over all of its requests, however the application names the room", async () => {
    const name = `${freshRoom()} of ä/b`;
    const fetcher = { fetch: (asked: Request) => connect(asked, { object, room: () => name }) };
    const ada = await RawClient.open({ room: "elsewhere", fetcher });
    await ada.connect({ name: "ada" });
    expect(await ada.ask("whoami")).toMatchObject({ user: null });
  });

  it("a room without an object is answered 404", async () => {
    for (const none of [undefined, null]) {
      const answer = await answerTo(`/rooms/gone/socket.io/${HANDSHAKE}`, { object: async () => none });
      expect([answer.status, JSON.parse(answer.text)]).toMatchObject([404, { error: { code: "NOT_FOUND" } }]);
    }
  });
});

describe("options", () => {
  const wrong: Array<[options: object, error: string]> = [
    [{ paht: "/boards" }, 'connect: there is no option "paht"'],
    [{ path: "boards" }, 'connect: path: "boards" is no path'],
    [{ path: "/b/../c d" }, "connect: path"],
    [{ connectsPerMinute: -1 }, "connect: connectsPerMinute: must be a whole number"],
    [{ connectsPerMinute: "60" }, "connect: connectsPerMinute: must be a whole number"],
    [{ transports: ["websocket", "carrier pigeon"] }, "connect: transports: must list"],
    [{ allowedOrigins: "https://a.test" }, "connect: allowedOrigins: must be"],
    [{ allowedOrigins: ["localhost:5173"] }, "connect: allowedOrigins: must be"],
    [{ allowedOrigins: ["https://a.test", "https://b.test/"] }, "connect: allowedOrigins: must be"],
    [{ allowedOrigins: ["HTTP://LOCALHOST:5173"] }, "connect: allowedOrigins: must be"],
    [{ object: undefined }, "connect: object: must be a function"],
    [{ room: "plans" as never }, "connect: room: must be a function"],
  ];

  it.each(wrong)("%j is an error that names it", async (options, error) => {
    await expect(answerTo(`/socket.io/${HANDSHAKE}`, options)).rejects.toThrow(error);
  });

  it("transports that are not listed are refused in Engine.IO's own form", async () => {
    const answer = await answerTo(`/socket.io/${HANDSHAKE}`, { transports: ["websocket"] });
    expect([answer.status, JSON.parse(answer.text)]).toEqual([400, { code: 0, message: "Transport unknown" }]);
  });

  it("connectsPerMinute counts over calls, each of which makes its own options", async () => {
    const options = (): Partial<ConnectOptions> => ({ object, connectsPerMinute: 3 });
    const headers = { "CF-Connecting-IP": "203.0.113.9" };
    const statuses: number[] = [];
    for (let times = 0; times < 4; times++)
      statuses.push((await answerTo(`/rooms/busy/socket.io/${HANDSHAKE}`, options(), { headers })).status);
    expect(statuses).toEqual([200, 200, 200, 429]);
    const other = { "CF-Connecting-IP": "203.0.113.10" };
    expect((await answerTo(`/rooms/busy/socket.io/${HANDSHAKE}`, options(), { headers: other })).status).toBe(200);
    expect((await answerTo(`/rooms/busy/socket.io/${HANDSHAKE}`, {}, { headers })).status).toBe(200);
  });
});

describe("origins", () => {
  const statusFrom = async (origin: string, allowedOrigins?: ConnectOptions["allowedOrigins"]): Promise<number> =>
    (
      await answerTo(`/socket.io/${HANDSHAKE}`, allowedOrigins === undefined ? {} : { allowedOrigins }, {
        headers: { Origin: origin },
      })
    ).status;

  it("by default only pages of the Worker's own origin connect", async () => {
    expect(await statusFrom(ORIGIN)).toBe(200);
    expect(await statusFrom("https://elsewhere.test")).toBe(403);
    expect(await statusFrom("null")).toBe(403);
  });

  it("others are listed, or all are let in", async () => {
    expect(await statusFrom("https://elsewhere.test", ["https://elsewhere.test"])).toBe(200);
    expect(await statusFrom("https://elsewhere.test.evil.test", ["https://elsewhere.test"])).toBe(403);
    expect(await statusFrom(ORIGIN, ["https://elsewhere.test"])).toBe(200);
    expect(await statusFrom("https://anywhere.test", "*")).toBe(200);
  });

  it("what a page of another site loads without a script, for which browsers send no Origin, is refused and counts nothing", async () => {
    const object = vi.fn<ConnectOptions["object"]>((room) => env.SKETCH.getByName(room));
    const authenticate = vi.fn<Authenticate>(() => ({ user: "ada" }));
    const options = { object, authenticate, connectsPerMinute: 2 };
    const statusFrom = async (site: string, more: Partial<ConnectOptions> = {}): Promise<number> => {
      const headers = { "Sec-Fetch-Site": site, "Sec-Fetch-Mode": "no-cors", Cookie: "session=ada" };
      return (await answerTo(`/rooms/${freshRoom()}/socket.io/${HANDSHAKE}`, { ...options, ...more }, { headers }))
        .status;
    };
    for (let times = 0; times < 5; times++)
      for (const site of ["cross-site", "same-site"]) expect(await statusFrom(site)).toBe(403);
    for (const allowedOrigins of ["*", ["https://elsewhere.test"]] as const)
      expect(await statusFrom("cross-site", { allowedOrigins })).toBe(403);
    expect(object).not.toHaveBeenCalled();
    expect(authenticate).not.toHaveBeenCalled();
    for (const site of ["same-origin", "none"]) expect(await statusFrom(site)).toBe(200);
    expect(await statusFrom("same-site", { allowedOrigins: "*", connectsPerMinute: 0 })).toBe(200);
    expect(authenticate.mock.lastCall![0].headers.get("Cookie")).toBeNull();
  });

  it("where all are let in, a page of another host brings no cookies", async () => {
    const authenticate: Authenticate = ({ headers }) => ({ user: headers.get("Cookie") ?? "nobody" });
    const options = { allowedOrigins: "*", authenticate } as const;
    const fetcher = serving(env.SKETCH, options);
    for (const [page, user] of [
      ["https://evil.test", "nobody"],
      [`${ORIGIN}:5173`, "session=ada"],
    ] as const) {
      const headers = { Origin: page, Cookie: "session=ada" };
      const client = await RawClient.open({ room: freshRoom(), fetcher, headers });
      await client.connect();
      expect(await client.ask("whoami")).toMatchObject({ user });
      const answer = await answerTo(`/rooms/${freshRoom()}/socket.io/${HANDSHAKE}`, options, { headers });
      expect(answer.headers.get("Access-Control-Allow-Origin")).toBe(page);
      expect(answer.headers.get("Access-Control-Allow-Credentials")).toBe(user === "nobody" ? null : "true");
    }
  });
});

describe("authenticate", () => {
  const PAST = Math.floor(Date.now() / 1000) - 10;
  const enter = async (authenticate: Authenticate, headers: Record<string, string> = {}): Promise<RawClient> => {
    const client = await RawClient.open({ room: freshRoom(), fetcher: serving(env.SKETCH, { authenticate }), headers });
    await client.connect();
    return client;
  };

  it("names the user of the namespaces, with all fields, over both transports", async () => {
    const authenticate: Authenticate = (asked) => ({ user: asked.headers.get("x-user")!, plan: "gold", name: "Ada Ł" });
    const ada = await enter(authenticate, { "x-user": "ada" });
    expect(await ada.ask("whoami")).toMatchObject({ user: "ada", plan: "gold", name: "Ada Ł" });
    const room = freshRoom();
    const fetcher = serving(env.SKETCH, { authenticate });
    const { body } = await textOf(request({ room, fetcher, headers: { "x-user": "ben" } }));
    const { sid } = JSON.parse(body.slice(1)) as { sid: string };
    // The session belongs to whom it was opened for.
    await textOf(
      request({ room, sid, fetcher, method: "POST", body: '40\u001e420["whoami"]', headers: { "x-user": "eve" } }),
    );
    expect((await textOf(request({ room, sid, fetcher }))).body).toContain('"user":"ben"');
  });

  it("gets the room, and the token wherever a client puts it", async () => {
    const asked: unknown[] = [];
    const authenticate: Authenticate = (_request, { room, token }) => (asked.push(token), { user: room });
    const room = freshRoom();
    const fetcher = serving(env.SKETCH, { authenticate });
    await upgrade({ room, fetcher, headers: { Authorization: "Bearer one" } });
    await upgrade({ room, fetcher, query: { token: "two" } });
    const { headers } = await upgrade({ room, fetcher, headers: { "Sec-WebSocket-Protocol": "bearer, three" } });
    expect(headers.get("Sec-WebSocket-Protocol")).toBe("bearer");
    const ada = await RawClient.open({ room, fetcher, query: { token: "four" } });
    await ada.connect();
    expect(await ada.ask("whoami")).toMatchObject({ user: room, query: { EIO: "4", transport: "websocket" } });
    expect(await ada.ask("whoami")).not.toMatchObject({ query: { token: "four" } });
    expect(asked).toEqual(["one", "two", "three", "four"]);
  });

  const refusals: Array<[what: string, answer: () => unknown, status: number, code: string]> = [
    ["undefined", () => undefined, 401, "UNAUTHORIZED"],
    ["null", async () => null, 401, "UNAUTHORIZED"],
    ["a user whose time is over", () => ({ user: "ada", exp: PAST }), 401, "TOKEN_EXPIRED"],
    ["a user for other rooms", () => ({ user: "ada", rooms: ["other", "sketches-*"] }), 403, "FORBIDDEN_ROOM"],
    ["a reason", () => ({ ok: false, code: "TOKEN_EXPIRED", message: "too late" }), 401, "TOKEN_EXPIRED"],
    [
      "keys that cannot be had",
      () => ({ ok: false, code: "UNAVAILABLE", message: "", retryAfterMs: 1 }),
      503,
      "UNAVAILABLE",
    ],
    ["no user", () => ({ name: "Ada" }), 500, "INTERNAL"],
    ["a user that is no text", () => ({ user: 7 }), 500, "INTERNAL"],
    ["an empty user", () => ({ user: "" }), 500, "INTERNAL"],
    ["a user that is too long", () => ({ user: "x".repeat(129) }), 500, "INTERNAL"],
    ["an end that is no number", () => ({ user: "ada", exp: "soon" }), 500, "INTERNAL"],
    ["rooms that are no list", () => ({ user: "ada", rooms: "all" }), 500, "INTERNAL"],
    ["more than fits", () => ({ user: "ada", plan: "x".repeat(5000) }), 500, "INTERNAL"],
    ["what is no JSON", () => ({ user: "ada", plan: 1n }), 500, "INTERNAL"],
    ["a text", () => "ada", 500, "INTERNAL"],
    ["false", () => false, 500, "INTERNAL"],
    ["a result of a fetch", () => ({ ok: false, status: 200, url: "/session" }), 500, "INTERNAL"],
    ["an end in milliseconds", () => ({ user: "ada", exp: Date.now() + 3_600_000 }), 500, "INTERNAL"],
    ["an unknown reason", () => ({ ok: false, code: "TIRED", message: "later" }), 500, "INTERNAL"],
  ];

  it.each(refusals)("%s is refused, without a call of the object", async (_what, answer, status, code) => {
    const touched = vi.fn(object);
    const response = await answerTo(`/rooms/plans/socket.io/${HANDSHAKE}`, {
      object: touched,
      authenticate: answer as Authenticate,
    });
    expect([response.status, JSON.parse(response.text)]).toMatchObject([status, { error: { code } }]);
    expect(touched).not.toHaveBeenCalled();
    expect(log).toHaveBeenCalledTimes(status === 500 ? 1 : 0);
  });

  it("a user may have any fields besides, those of a refusal among them", async () => {
    for (const fields of [
      { ok: true },
      { ok: false, code: "UNAUTHORIZED", message: "hello" },
      { accepted: true, data: { plan: "gold" } },
      { accepted: false, message: "no", refusal: {}, identity: {} },
      { then: "June", status: 403, headers: {}, body: null },
    ]) {
      const ada = await enter(() => ({ user: "ada", ...fields }));
      expect(await ada.ask("whoami")).toMatchObject({ user: "ada", name: "ada" });
    }
  });

  it("an error is logged, and the client does not learn it", async () => {
    const authenticate: Authenticate = () => Promise.reject(new Error("the session store burns"));
    const { status, text } = await answerTo(`/rooms/plans/socket.io/${HANDSHAKE}`, { authenticate });
    expect(status).toBe(500);
    expect(text).not.toContain("burns");
    expect(String(log.mock.calls)).toContain("the session store burns");
  });

  it("a connection ends with its user: a notice before, and a disconnect", async () => {
    const clock = new TestClock();
    const room = freshRoom();
    const authenticate: Authenticate = () => ({ user: "ada", exp: Math.floor(Date.now() / 1000) + 60 });
    const ada = await RawClient.open({ room, fetcher: serving(env.SKETCH, { authenticate }) });
    await ada.connect();
    await clock.advance(60_000, env.SKETCH.getByName(room));
    clock.stop();
    expect(await ada.receives("notice", 2)).toMatchObject([{ code: "TOKEN_EXPIRING" }, { code: "TOKEN_EXPIRED" }]);
    await ada.receivesPacket(PacketType.DISCONNECT);
  });
});

describe("the trusted header", () => {
  const forged = encodeUpgradeFacts({
    address: "1.2.3.4",
    query: {},
    identity: { user: "admin", name: "admin" } as never,
  });
  const headers = { [UPGRADE_HEADER]: forged, Upgrade: "websocket" };

  it("of a client is replaced by connect", async () => {
    const client = await RawClient.open({ room: freshRoom(), fetcher: serving(env.SKETCH), headers });
    await client.connect();
    expect(await client.ask("whoami")).toMatchObject({ user: null });
  });

  it("is not believed on a request that a Worker passes on as it came", async () => {
    const { host } = new URL(INNER_ORIGIN);
    const addresses = [
      `${ORIGIN}/rooms/plans/socket.io/?EIO=4&transport=websocket`,
      `${ORIGIN}/websocket`,
      `http://${host}/websocket`,
      `${INNER_ORIGIN}.evil.test/websocket`,
      `https://${host}:8443/websocket`,
      `https://admin@elsewhere.test/websocket`,
    ];
    for (const address of addresses) {
      const response = await env.SKETCH.getByName("plans").fetch(new Request(address, { headers }));
      expect([address, response.status, await response.text()]).toEqual([
        address,
        404,
        expect.stringContaining("takes connections from createParley or connect"),
      ]);
    }
  });
});
