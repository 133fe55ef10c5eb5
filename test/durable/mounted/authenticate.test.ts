// Users that the Worker's own code knows, at every door where a token would be looked at. No key is set.
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi, type MockInstance } from "vitest";

import { signToken } from "../../../src/settings/tokens/tokens.ts";
import type { HostAsked, ParleyOptions } from "../../../src/worker/mount.ts";
import { createParley } from "../../../src/entries/chat.ts";
import { ORIGIN, RawClient, upgrade } from "../raw-client.ts";
import { answerTo, at, call, freshRoom, join, refusal, session } from "./acme.ts";

const SECRET = "a secret of thirty-two bytes, or so";

interface Knock extends RequestInit {
  readonly headers?: Record<string, string>;
}

/** One address of each kind, with the status that a known user gets there. */
const DOORS: ReadonlyArray<[door: string, path: string, init: Knock, good: number]> = [
  ["a WebSocket", "/rooms/lounge/socket.io/?EIO=4&transport=websocket", { headers: { Upgrade: "websocket" } }, 101],
  ["long-polling", "/rooms/lounge/socket.io/?EIO=4&transport=polling", {}, 200],
  ["a call", "/api/dms", {}, 200],
  ["a file", "/files/none", {}, 404],
];

/** Asks at an address of a Worker with these options. @returns the status, and the body if no WebSocket opened */
async function knock(options: ParleyOptions, path: string, init: Knock, variables: object = {}) {
  const parley = createParley(options);
  const response = await parley.fetch(new Request(ORIGIN + path, init), { ...env, ...variables });
  response.webSocket?.accept();
  response.webSocket?.close();
  return { status: response.status, body: response.webSocket ? "" : await response.text() };
}

let log: MockInstance<typeof console.error>;
beforeEach(() => void (log = vi.spyOn(console, "error").mockImplementation(() => undefined)));
afterEach(() => log.mockRestore());

describe.each(DOORS)("at the door of %s", (_door, path, init, good) => {
  it("a known user passes", async () => {
    expect((await knock({ authenticate: () => ({ user: "ada" }) }, path, init)).status).toBe(good);
  });

  it("it is asked with the request as it came, and the Worker's environment", async () => {
    const authenticate = vi.fn(async (request: Request, given: Cloudflare.Env) => {
      return given["TENANT"] === "acme" && request.url.startsWith(`${ORIGIN}/chat/`) ? { user: "ada" } : undefined;
    });
    const { status } = await knock({ basePath: "/chat", authenticate }, `/chat${path}`, init, { TENANT: "acme" });
    expect([status, authenticate.mock.calls.length]).toEqual([good, 1]);
  });

  it.each([undefined, null])("%s refuses: 401", async (nobody) => {
    const { status, body } = await knock({ authenticate: () => nobody }, path, init);
    expect({ status, body: JSON.parse(body) }).toEqual({ status: 401, body: refusal("UNAUTHORIZED") });
  });

  it("a token opens nothing, even one of a key that is set", async () => {
    const headers = { ...init.headers, Authorization: `Bearer ${await signToken(SECRET, { user: "ada" }, 60)}` };
    const options = { authenticate: () => undefined };
    expect((await knock(options, path, { ...init, headers }, { JWT_SECRET: SECRET })).status).toBe(401);
  });

  it("an error is a 500 without its text; the log has that", async () => {
    const authenticate = async (): Promise<never> => {
      throw new Error("no route to the database at 10.0.0.7");
    };
    const { status, body } = await knock({ authenticate }, path, init);
    expect({ status, body: JSON.parse(body) }).toEqual({ status: 500, body: refusal("INTERNAL") });
    expect(body).not.toContain("10.0.0.7");
    expect(log.mock.calls.flat().join()).toContain("10.0.0.7");
  });

  it("what is no user is a 500, and the log says why", async () => {
    const { status, body } = await knock({ authenticate: () => ({ user: "a\u0007" }) }, path, init);
    expect({ status, body: JSON.parse(body) }).toEqual({ status: 500, body: refusal("INTERNAL") });
    expect(log.mock.calls.flat().join()).toContain("user: control characters");
  });

  it("an end that has passed: 401 TOKEN_EXPIRED", async () => {
    const exp = Math.floor(Date.now() / 1000) - 1;
    const { status, body } = await knock({ authenticate: () => ({ user: "ada", exp }) }, path, init);
    expect({ status, body: JSON.parse(body) }).toEqual({ status: 401, body: refusal("TOKEN_EXPIRED") });
  });

  it("a page of another origin is refused, as its requests bring the user's cookies", async () => {
    const headers = { ...init.headers, Origin: "https://evil.example" };
    const authenticate = vi.fn(() => ({ user: "ada" }));
    expect((await knock({ authenticate }, path, { ...init, headers })).status).toBe(403);
    expect(authenticate).not.toHaveBeenCalled();
    expect((await knock({ authenticate }, path, { ...init, headers: { ...headers, Origin: ORIGIN } })).status).toBe(
      good,
    );
  });

  it("a page of any origin, where all are allowed, brings no cookies and passwords, but a token", async () => {
    const everywhere = { ALLOWED_ORIGINS: "*" };
    const ambient = { Cookie: "session=ada", "Cf-Access-Jwt-Assertion": "ada", Authorization: "Basic YWRhOjE=" };
    const authenticate = ({ headers }: Request): { user: string } | undefined => {
      const names = ["Cookie", "Cf-Access-Jwt-Assertion", "Authorization"];
      return names.some((name) => headers.has(name)) ? { user: "ada" } : undefined;
    };
    const statusOf = async (page: string, headers: object, allowed = everywhere): Promise<number> => {
      const asked = { ...init, headers: { ...init.headers, ...headers, Origin: page } };
      return (await knock({ authenticate }, path, asked, allowed)).status;
    };
    expect(await statusOf("https://evil.example", ambient)).toBe(401);
    expect(await statusOf("null", ambient)).toBe(401);
    expect(await statusOf("https://evil.example", { Authorization: "Bearer of-ada" })).toBe(good);
    expect(await statusOf(`${ORIGIN}:5173`, ambient)).toBe(good);
    expect(await statusOf("https://a.example", ambient, { ALLOWED_ORIGINS: "https://a.example" })).toBe(good);
  });
});

it.each([
  ["a user without an id", {}, "user: is required"],
  ["an id of 129 characters", { user: "u".repeat(129) }, "user: at most 128 characters"],
  ["an unknown role", { user: "ada", role: "admin" }, "role:"],
  ["rooms that are no list", { user: "ada", rooms: "lounge" }, "rooms:"],
  ["a field that does not exist", { user: "ada", room: ["lounge"] }, "room"],
  ["an end that is no number", { user: "ada", exp: "tomorrow" }, "exp:"],
  ["an end in milliseconds", { user: "ada", exp: Date.now() + 3_600_000 }, "exp: must be in seconds"],
  ["a text", "ada", "object"],
  ["true", true, "object"],
])("%s is no user: 500, and the log says why", async (_what, given, named) => {
  const { status, body } = await knock({ authenticate: () => given as never }, "/api/dms", {});
  expect({ status, body: JSON.parse(body) }).toEqual({ status: 500, body: refusal("INTERNAL") });
  expect(log.mock.calls.flat().join()).toContain(named);
});

describe("tokens of one's own", () => {
  it("it is asked with the token of the request, and the room of a connection", async () => {
    const asked: object[] = [];
    const authenticate = (_request: Request, _env: object, given: HostAsked): undefined => void asked.push(given);
    const bearer = { Authorization: "Bearer one" };
    for (const [, path, init] of DOORS)
      await knock({ authenticate }, path, { ...init, headers: { ...init.headers, ...bearer } });
    const [[, webSocket, upgrading]] = DOORS as [(typeof DOORS)[number]];
    await knock({ authenticate }, `${webSocket}&token=two`, upgrading);
    const headers = { ...upgrading.headers, "Sec-WebSocket-Protocol": "bearer, three" };
    await knock({ authenticate }, webSocket, { headers });
    await knock({ authenticate }, webSocket, upgrading);
    expect(asked).toEqual([
      { token: "one", room: "lounge" },
      { token: "one", room: "lounge" },
      { token: "one" },
      { token: "one" },
      { token: "two", room: "lounge" },
      { token: "three", room: "lounge" },
      { room: "lounge" },
    ]);
  });

  it("one that the client shows at the upgrade opens the room; at CONNECT it is too late", async () => {
    const parley = createParley({
      authenticate: (_request, _env, { token }) => (token === "ticket-7" ? { user: "ada" } : undefined),
    });
    const fetcher = { fetch: (request: Request) => parley.fetch(request, env) };
    const room = freshRoom();
    // As the client of `authAt: "upgrade"` does.
    const headers = { "Sec-WebSocket-Protocol": "bearer, ticket-7" };
    const ada = await RawClient.open({ room, fetcher, headers });
    await ada.connect({ token: "ticket-7" });
    expect(await ada.receives("welcome")).toMatchObject([{ user: "ada" }]);
    // By default the client brings it with CONNECT only.
    expect((await upgrade({ room, fetcher })).status).toBe(401);
  });
});

describe("the fields of its user hold in rooms", () => {
  it("name, role and rooms", async () => {
    const room = freshRoom();
    const client = await RawClient.open({
      room,
      headers: session({ user: "ada", name: "Ada L.", role: "reader" }),
      ...at("/chat"),
    });
    await client.connect();
    expect(await client.receives("welcome")).toMatchObject([{ user: "ada", name: "Ada L.", role: "reader" }]);
    expect(await client.ask("chat-message", { content: "hello" })).toMatchObject({ error: { code: "FORBIDDEN" } });
    const elsewhere = await upgrade({
      room,
      headers: session({ user: "ada", rooms: ["other", "o-*"] }),
      ...at("/chat"),
    });
    expect(elsewhere.status).toBe(403);
    expect(await elsewhere.json()).toEqual(refusal("FORBIDDEN_ROOM"));
  });

  it("a name that is too long is cut, one that is missing is the user id", async () => {
    const room = freshRoom();
    await join("/chat", room, { user: "ada", name: "A".repeat(100) });
    await join("/chat", room, { user: "ben", name: null });
    const { body } = await call({ user: "backend", role: "service" }, "GET", `/chat/api/rooms/${room}/members`);
    expect(body.members).toMatchObject([
      { user: "ada", name: "A".repeat(64) },
      { user: "ben", name: "ben" },
    ]);
  });

  it("at its end the connection is closed, and a token in its place is not accepted", async () => {
    const exp = Math.floor(Date.now() / 1000) + 6;
    const client = await join("/chat", freshRoom(), { user: "ada", exp });
    const token = await signToken(SECRET, { user: "ada" }, 60);
    expect(await client.ask("refresh-token", { token })).toMatchObject({ error: { code: "UNAUTHORIZED" } });
    expect(await client.receives("notice", 2)).toMatchObject([{ code: "TOKEN_EXPIRING" }, { code: "TOKEN_EXPIRED" }]);
  });

  it("a room without a key refuses the CONNECT of a client with only a token", async () => {
    const room = freshRoom();
    // A Worker that lets any client through to the room.
    const parley = createParley();
    const fetcher = { fetch: (request: Request) => parley.fetch(request, { ...env, JWT_SECRET: SECRET }) };
    const token = await signToken(SECRET, { user: "ada" }, 60);
    for (const auth of [{ token }, {}]) {
      const client = await RawClient.open({ room, fetcher });
      await expect(client.connect(auth)).rejects.toMatchObject({ data: { code: "UNAUTHORIZED" } });
    }
  });
});

describe("guests", () => {
  it("are not admitted: their tokens would open nothing", async () => {
    expect(await answerTo("/chat/api/guest", { method: "POST" })).toEqual({ status: 403, body: refusal("FORBIDDEN") });
    const parley = createParley({ authenticate: () => ({ user: "ada" }) });
    const variables = { ...env, JWT_SECRET: SECRET, GUEST_ACCESS: "on" };
    const { status } = await parley.fetch(new Request(`${ORIGIN}/api/guest`, { method: "POST" }), variables);
    expect(status).toBe(403);
  });
});

describe("GET /api/guest/entrance", () => {
  it("names the user whom `authenticate` knows, to trusted pages alone", async () => {
    const parley = createParley({
      authenticate: (request) => (request.headers.has("Cookie") ? { user: "ada", name: "Ada" } : undefined),
    });
    const entrance = async (headers: Record<string, string>): Promise<unknown> => {
      const request = new Request(`${ORIGIN}/api/guest/entrance`, { headers });
      return (await parley.fetch(request, { ...env, ALLOWED_ORIGINS: ORIGIN })).json();
    };
    expect(await entrance({ Cookie: "session=1" })).toEqual({ guests: false, user: { user: "ada", name: "Ada" } });
    expect(await entrance({})).toEqual({ guests: false });
    expect(await entrance({ Cookie: "session=1", Origin: "https://evil.example" })).toEqual({ guests: false });
  });

  it("tells nothing of an `authenticate` that fails", async () => {
    const parley = createParley({
      authenticate: () => {
        throw new Error("the table of users is away");
      },
    });
    const answer = await parley.fetch(new Request(`${ORIGIN}/api/guest/entrance`), { ...env });
    expect([answer.status, await answer.json()]).toEqual([200, { guests: false }]);
  });
});

describe("neither a key nor authenticate", () => {
  it("closes the chat: 503, and the log names the key", async () => {
    for (const [, path, init] of DOORS) expect((await knock({}, path, init)).status).toBe(503);
    expect(log.mock.calls.flat().join()).toContain("JWT_SECRET");
  });
});

describe("two createParley in one Worker", () => {
  it("each asks its own authenticate", async () => {
    const room = freshRoom();
    const doors = { one: "ada", two: "ben" };
    for (const [name, user] of Object.entries(doors)) {
      const parley = createParley({ basePath: `/${name}`, authenticate: () => ({ user, role: "service" }) });
      const response = await parley.fetch(
        new Request(`${ORIGIN}/${name}/api/rooms/${room}/messages`, {
          method: "POST",
          headers: { "Content-Type": "application/json" },
          body: '{"content":"hello"}',
        }),
        env,
      );
      expect(response.status).toBe(201);
    }
    const { body } = await call({ user: "backend", role: "service" }, "GET", `/chat/api/rooms/${room}/messages`);
    expect(body.messages).toMatchObject([{ sender: "ada" }, { sender: "ben" }]);
  });
});
