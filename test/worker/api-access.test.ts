// Access to the HTTP API: roles, rooms, services that act as users, rate limits. API-1, API-5, API-11
import { beforeEach, describe, expect, it } from "vitest";

import page from "../../docs/http-api.md?raw";
import type { Message } from "../../src/protocol/chat-events.ts";
import { callApi, request, type CallOptions } from "../durable/api-caller.ts";
import { ORIGIN, type RawClient } from "../durable/raw-client.ts";
import { freshRoom, join, Sleeper, tokenFor, useSettings, withSettings, workerWith } from "../durable/rooms.ts";

const ROOM = "a-room";

// Messages are posted faster than usual.
useSettings({ API_RATE: "1000", API_BURST: "1000" });

/**
 * Every call about a room, with something to give where something has to be given. The list of rooms is another matter:
 * lobby.test.ts.
 */
const CALLS: ReadonlyArray<readonly [method: string, path: string, body?: object | undefined, query?: string]> = [
  ["GET", "/api/rooms/{room}"],
  ["DELETE", "/api/rooms/{room}"],
  ["GET", "/api/rooms/{room}/messages"],
  ["POST", "/api/rooms/{room}/messages", { content: "hello" }],
  ["GET", "/api/rooms/{room}/search", undefined, "?query=hello"],
  ["GET", "/api/rooms/{room}/messages/{id}"],
  ["PATCH", "/api/rooms/{room}/messages/{id}", { content: "better" }],
  ["GET", "/api/rooms/{room}/messages/{id}/versions"],
  ["GET", "/api/rooms/{room}/messages/{id}/reactions"],
  ["POST", "/api/rooms/{room}/messages/{id}/reactions", { emoji: "👍", on: true }],
  ["DELETE", "/api/rooms/{room}/messages/{id}"],
  ["POST", "/api/rooms/{room}/moderation", { action: "slow-mode", seconds: 0 }],
  ["GET", "/api/rooms/{room}/moderation"],
  ["GET", "/api/rooms/{room}/audit"],
  ["POST", "/api/rooms/{room}/events/{event}", { payload: {} }],
  ["GET", "/api/rooms/{room}/members"],
  ["GET", "/api/rooms/{room}/export"],
  ["GET", "/api/rooms/{room}/links"],
  ["GET", "/api/rooms/{room}/stats"],
  ["POST", "/api/drain", { rooms: [ROOM], reconnectWithinMs: 0 }],
];
const FOR_SERVICES = new Set(["DELETE /api/rooms/{room}", "POST /api/drain", "GET /api/rooms/{room}/links"]);

/** The message of a call about one. */
let messageId: string;
let authors = 0;

/** Each by another user, because these tests are not about rate limits. */
async function postMessage(): Promise<void> {
  const body = { content: "a message", as: `author-${++authors}` };
  messageId = (await callApi("POST", `/api/rooms/${ROOM}/messages`, { body })).body.id;
}

const ask = (
  [method, path, body, query = ""]: (typeof CALLS)[number],
  options: CallOptions = {},
): Promise<{ status: number; code: string | undefined; headers: Headers; error?: unknown }> =>
  request(method, path.replace("{room}", ROOM).replace("{id}", messageId).replace("{event}", "reports") + query, {
    ...(body && { body }),
    ...options,
  }).then(async (response) => {
    const { status, headers } = response;
    if (status < 400) return (await response.body?.cancel(), { status, headers, code: undefined });
    const { error } = await response.json<{ error: { code: string } }>();
    return { status, headers, code: error.code, error };
  });

/** Not for staff only: they have tests of their own (files-*.test.ts). */
const FOR_MEMBERS = [
  "GET /api/rooms",
  "GET /files/{key}",
  "GET /files/{key}/link",
  "POST /api/guest",
  "POST /api/rooms/{room}/files",
];
/** link-cards.test.ts. */
const OF_THE_WEB = ["GET /api/link-card", "GET /api/link-card/picture"];
/** http.test.ts. */
const FOR_ALL = ["GET /api/guest/entrance"];

/** Not about one room: they have tests of their own (relay-consumer.test.ts). */
const OF_RELAY = [
  "POST /api/rooms/{room}/links",
  "DELETE /api/rooms/{room}/links",
  "GET /api/relay/dead",
  "POST /api/relay/dead/replay",
  "DELETE /api/relay/dead/{id}",
];
/** metrics.test.ts, files-upload.test.ts. */
const OF_ALL_ROOMS = ["GET /api/stats", "GET /api/files"];

/** Not about one room either: announce.test.ts, direct.test.ts, unread.test.ts. */
const OF_MANY = [
  "POST /api/announce",
  "GET /api/announce/{id}",
  "POST /api/dms",
  "GET /api/dms",
  "GET /api/unread",
  "GET /api/mentions",
  "GET /api/search",
];

/** The calls that OpenAPI describes. */
async function described(): Promise<string[]> {
  const { body } = await callApi("GET", "/openapi.json", { as: null });
  const calls = Object.entries(body.paths as object).flatMap(([path, calls]) =>
    Object.keys(calls as object).map((method) => `${method.toUpperCase()} ${path}`),
  );
  return calls.sort();
}

it("the table at the top of docs/http-api.md has all calls", async () => {
  const rows = page.matchAll(/^\| (`[A-Z]+.*?) +\|/gm);
  const listed = [...rows].flatMap(([, cell]) =>
    // `GET`, `PATCH /api/a`, or `POST /api/b`, `GET /api/c`: a method alone has the path that follows.
    [...cell!.matchAll(/`([A-Z]+)(?=[^/]*(\/[^`]+))/g)].map(
      ([, method, path]) => `${method} ${path!.replaceAll(/:(\w+)/g, "{$1}")}`,
    ),
  );
  expect(listed.sort()).toEqual([...(await described()), "GET /openapi.json"].sort());
});

it("the list of calls here is that of the document: API-12", async () => {
  expect(
    await described(),
    "put the call into one of the lists of api-access.test.ts, into CALLS if it is about one room and for staff",
  ).toEqual(
    [
      ...CALLS.map(([method, path]) => `${method} ${path}`),
      ...FOR_MEMBERS,
      ...OF_THE_WEB,
      ...FOR_ALL,
      ...OF_RELAY,
      ...OF_ALL_ROOMS,
      ...OF_MANY,
    ].sort(),
  );
});

describe("API-1: a call about a room", () => {
  let ben: RawClient | undefined;
  // Some of the calls disconnect everybody.
  beforeEach(async () => {
    if (!ben || ben.closed) ben = await join(ROOM, "ben");
  });

  const isAboutMessage = ([, path]: (typeof CALLS)[number]): boolean => path.includes("{id}");

  const isAnswered = async (call: (typeof CALLS)[number], as: CallOptions["as"] & object): Promise<void> => {
    if (isAboutMessage(call)) await postMessage();
    const { status, error } = await ask(call, { as });
    expect(status, `ben is in the room; the answer: ${JSON.stringify(error)}`).toBeGreaterThanOrEqual(200);
    expect(status, `ben is in the room; the answer: ${JSON.stringify(error)}`).toBeLessThan(300);
  };

  const named = CALLS.map((call) => ({ call, name: `${call[0]} ${call[1]}` }));

  it.each(named)(
    "$name is for staff of that room, and where it is not for services only, for moderators",
    async ({ call, name }) => {
      if (isAboutMessage(call)) await postMessage();
      expect(await ask(call, { as: null })).toMatchObject({ status: 401, code: "UNAUTHORIZED" });
      for (const role of ["reader", "member"])
        expect(await ask(call, { as: { role } })).toMatchObject({ status: 403, code: "FORBIDDEN" });
      expect(await ask(call, { as: { rooms: [`${ROOM}-2`] } })).toMatchObject({ status: 403, code: "FORBIDDEN_ROOM" });
      await isAnswered(call, { rooms: [ROOM] });
      const moderator = { role: "moderator", rooms: [ROOM] };
      if (FOR_SERVICES.has(name))
        expect(await ask(call, { as: moderator })).toMatchObject({ status: 403, code: "FORBIDDEN" });
      else await isAnswered(call, moderator);
    },
  );

  // The drain has its rooms in the body.
  it.each([named[0]!, named.at(-1)!])("looks at the whole token: $name", async ({ call }) => {
    const refused = await ask(call, { as: null });
    expect(refused.headers.get("WWW-Authenticate")).toBe("Bearer");
    const expired = { Authorization: `Bearer ${await tokenFor("backend", { role: "service" }, -60)}` };
    expect(await ask(call, { as: null, headers: expired })).toMatchObject({ status: 401, code: "TOKEN_EXPIRED" });
    for (const Authorization of ["Bearer no.such.token", "Bearer", "Basic YTpi"])
      expect(await ask(call, { as: null, headers: { Authorization } })).toMatchObject({ status: 401 });
    for (const rooms of [[], ["another"], ["b*"]])
      expect(await ask(call, { as: { rooms } })).toMatchObject({ status: 403, code: "FORBIDDEN_ROOM" });
    for (const as of [{}, { rooms: ["a-*"] }]) await isAnswered(call, as);
  });
});

describe("moderators by the room's own record: API-1", () => {
  const look = (room: string, user: string, role: string): Promise<Array<number>> =>
    Promise.all(
      ["", "/messages", "/members", "/audit", "/export"].map(async (path) => {
        const response = await request("GET", `/api/rooms/${room}${path}`, { as: { user, role } });
        await response.body?.cancel();
        return response.status;
      }),
    );
  const moderate = (room: string, body: object) => callApi("POST", `/api/rooms/${room}/moderation`, { body });

  it("gives a moderator by grant the rights of one by token, in that room only, also after a sleep", async () => {
    const room = freshRoom();
    expect(new Set(await look(room, "gil", "member"))).toEqual(new Set([403]));
    await moderate(room, { action: "grant", user: "gil", role: "moderator" });
    await new Sleeper(room).sleep();
    for (const role of ["member", "reader"]) expect(new Set(await look(room, "gil", role))).toEqual(new Set([200]));
    const as = { user: "gil", role: "member" };
    const posted = await callApi("POST", `/api/rooms/${room}/messages`, { as, body: { content: "from gil" } });
    expect(posted).toMatchObject({ status: 201 });
    expect(await callApi("DELETE", `/api/rooms/${room}`, { as })).toMatchObject({ status: 403 });
    expect(new Set(await look(freshRoom(), "gil", "member"))).toEqual(new Set([403]));
    await moderate(room, { action: "revoke", user: "gil" });
    expect(new Set(await look(room, "gil", "member"))).toEqual(new Set([403]));
  });

  it("a moderator by token whom the backend banned, or made a member, has no such rights there", async () => {
    const room = freshRoom();
    expect(new Set(await look(room, "mo", "moderator"))).toEqual(new Set([200]));
    await moderate(room, { action: "ban", user: "mo" });
    expect(new Set(await look(room, "mo", "moderator"))).toEqual(new Set([403]));
    await moderate(room, { action: "unban", user: "mo" });
    await moderate(room, { action: "grant", user: "mo", role: "member" });
    expect(new Set(await look(room, "mo", "moderator"))).toEqual(new Set([403]));
  });
});

it("ignores a token in the query or the subprotocol: addresses end up in logs", async () => {
  const token = await tokenFor("backend", { role: "service" });
  expect(await callApi("GET", `/api/rooms/${ROOM}?token=${token}`, { as: null })).toMatchObject({ status: 401 });
  const headers = { "Sec-WebSocket-Protocol": `bearer, ${token}` };
  expect(await callApi("GET", `/api/rooms/${ROOM}`, { as: null, headers })).toMatchObject({ status: 401 });
});

describe("acting as a user: API-5", () => {
  const post = (room: string, body: object, as?: CallOptions["as"]) =>
    callApi("POST", `/api/rooms/${room}/messages`, { body: { content: "hello", ...body }, ...(as && { as }) });

  it("a service acts for the user whom it names", async () => {
    const room = freshRoom();
    const ben = await join(room, "ben");
    expect(await post(room, { as: "ada" })).toMatchObject({ status: 201 });
    expect(await post(room, { as: { user: "ada", name: "Ada L." } })).toMatchObject({ status: 201 });
    expect(await post(room, {})).toMatchObject({ status: 201 });
    const heard = await ben.receives<Message>("chat-message", 3);
    expect(heard.map(({ sender, name }) => [sender, name])).toEqual([
      ["ada", "ada"],
      ["ada", "Ada L."],
      ["backend", "backend"],
    ]);
  });

  it("a moderator acts for no other user: 403, and nothing is posted", async () => {
    const room = freshRoom();
    for (const as of ["ada", { user: "ada" }, "backend"]) {
      const refused = await post(room, { as }, { role: "moderator" });
      expect(refused).toMatchObject({ status: 403, body: { error: { code: "FORBIDDEN" } } });
    }
    expect((await callApi("GET", `/api/rooms/${room}`)).body).toMatchObject({ lastSeq: 0 });
    expect(await post(room, {}, { role: "moderator", user: "mo", name: "Mo" })).toMatchObject({ status: 201 });
    const { body } = await callApi("GET", `/api/rooms/${room}/messages`);
    expect(body.messages).toMatchObject([{ sender: "mo", name: "Mo" }]);
  });

  it.each([
    ["a user id of 129 characters", { as: "x".repeat(129) }],
    ["a control character", { as: "a\u0007" }],
    ["a name of 65 characters", { as: { user: "ada", name: "x".repeat(65) } }],
    ["no user", { as: { name: "Ada" } }],
    ["a user whose length cannot be compared", { as: { user: { length: { toString: 1 } } } }],
  ])("%s: 400 that names the field", async (_what, body) => {
    const refused = await post(freshRoom(), body);
    expect(refused).toMatchObject({ status: 400, body: { error: { code: "INVALID_PAYLOAD" } } });
    expect(refused.body.error.issues).toMatchObject([{ path: expect.stringMatching(/^as/) }]);
  });

  it("does not work by event: the room does not know the field", async () => {
    const ada = await join(freshRoom(), "ada");
    expect(await ada.ask("chat-message", { content: "hello", as: "ben" })).toMatchObject({ ok: true });
    expect(await ada.receives("chat-message")).toMatchObject([{ sender: "ada" }]);
  });
});

describe("too many calls: API-11", () => {
  it("429 with Retry-After, for one user and not for another", async () => {
    const fetcher = workerWith({ API_RATE: "0.5", API_BURST: "3" });
    const look = (user: string) => callApi("GET", `/api/rooms/${ROOM}`, { as: { user }, fetcher });
    for (let i = 0; i < 3; i++) expect(await look("busy")).toMatchObject({ status: 200 });
    const refused = await look("busy");
    expect(refused).toMatchObject({ status: 429, body: { error: { code: "RATE_LIMITED" } } });
    expect(refused.body.error.retryAfterMs).toBeGreaterThan(0);
    const retryAfterSeconds = Number(refused.headers.get("Retry-After"));
    expect(retryAfterSeconds).toBeGreaterThanOrEqual(1);
    expect(retryAfterSeconds).toBeLessThanOrEqual(2);
    expect(await look("other")).toMatchObject({ status: 200 });
  });

  it("the room's own limit on posts is a 429, too", async () => {
    const room = freshRoom();
    const post = () => callApi("POST", `/api/rooms/${room}/messages`, { body: { content: "x" } });
    const posts = await withSettings({ MESSAGE_RATE: "0.1" }, () => Promise.all(Array.from({ length: 12 }, post)));
    const refused = posts.filter(({ status }) => status !== 201);
    expect(refused.length).toBeGreaterThan(0);
    for (const { status, headers, body } of refused) {
      expect({ status, body }).toMatchObject({ status: 429, body: { error: { code: "RATE_LIMITED" } } });
      expect(Number(headers.get("Retry-After"))).toBeGreaterThanOrEqual(1);
    }
  });
});

it("an error answer has no secret: neither token nor stack", async () => {
  const secret = "eyJhbGciOiJIUzI1NiJ9.e30.c2VjcmV0LXNpZ25hdHVyZQ";
  const response = await request("GET", `/api/rooms/${ROOM}`, {
    as: null,
    headers: { Authorization: `Bearer ${secret}`, Origin: ORIGIN },
  });
  expect(response.status).toBe(401);
  expect(await response.text()).not.toMatch(/c2VjcmV0|\bat .*\.ts/);
});
