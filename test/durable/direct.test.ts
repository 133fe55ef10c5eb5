// Rooms between two people, over every way in: DM-1 to DM-4
import { describe, expect, it, onTestFinished, vi } from "vitest";

import { directRoomOf, type DirectOverview } from "../../src/protocol/direct-room.ts";
import type { Message, Welcome } from "../../src/protocol/chat-events.ts";
import { callApi, pagesFrom, request, type CallOptions } from "./api-caller.ts";
import { RawClient } from "./raw-client.ts";
import { freshRoom, join, stubOf, tokenFor, useSettings } from "./rooms.ts";

useSettings({ API_RATE: "10000", API_BURST: "10000" });

let pairs = 0;
/** Two users who never spoke. */
const freshPair = (): [string, string] => [`ada-${++pairs}`, `ben-${pairs}`];

const asMember = (user: string, rooms?: readonly string[]): CallOptions["as"] & object => ({
  user,
  role: "member",
  ...(rooms && { rooms }),
});

const open = (user: string, other: string, as: CallOptions["as"] = asMember(user)) =>
  callApi("POST", "/api/dms", { as: as!, body: { user: other } });

const list = async (user: string, query = ""): Promise<DirectOverview[]> =>
  (await callApi("GET", `/api/dms${query}`, { as: asMember(user) })).body.dms;

const listed = (user: string, expected: readonly object[]): Promise<void> =>
  vi.waitFor(async () => expect(await list(user)).toMatchObject(expected));

/** The answer instead of a CONNECT. */
async function refusalOf(room: string, user: string, claims: object = {}): Promise<unknown> {
  const client = await RawClient.open({ room });
  client.send(`40${JSON.stringify({ token: await tokenFor(user, claims) })}`);
  return client.until("the refusal", () => {
    const refused = client.frames.find((frame) => typeof frame === "string" && frame.startsWith("44"));
    return typeof refused === "string" ? (JSON.parse(refused.slice(2)) as unknown) : undefined;
  });
}

describe("opening: DM-1", () => {
  it("by either, once: the same room, listed for both", async () => {
    const [ada, ben] = freshPair();
    const first = await open(ada, ben);
    expect(first).toMatchObject({ status: 201, body: { ok: true, room: directRoomOf(ada, ben) } });
    expect(await open(ben, ada)).toMatchObject({ status: 200, body: first.body });
    const { room } = first.body;
    await listed(ada, [{ room, user: ben, lastSeq: 0, lastActivity: null, unread: 0 }]);
    await listed(ben, [{ room, user: ada }]);
  });

  it("by event, from any room", async () => {
    const [ada, ben] = freshPair();
    const client = await join(freshRoom(), ada);
    const room = directRoomOf(ada, ben);
    expect(await client.ask("open-dm", { user: ben })).toEqual({ ok: true, room, isNew: true });
    expect(await client.ask("open-dm", { user: ben })).toEqual({ ok: true, room, isNew: false });
    expect(await client.ask("open-dm", { user: ada })).toMatchObject({ error: { code: "INVALID_PAYLOAD" } });
    expect(await client.ask("open-dm", {})).toMatchObject({ error: { code: "INVALID_PAYLOAD" } });
    const bound = await RawClient.open({ room: "only-here" });
    await bound.connect({ token: await tokenFor(ada, { rooms: ["only-here"] }) });
    expect(await bound.ask("open-dm", { user: ben })).toMatchObject({ error: { code: "FORBIDDEN" } });
    const reader = await RawClient.open({ room: "only-here" });
    await reader.connect({ token: await tokenFor(ada, { role: "reader" }) });
    expect(await reader.ask("open-dm", { user: ben })).toMatchObject({ error: { code: "FORBIDDEN" } });
  });

  it("20 new ones at once by call and event together, then 429; open ones count for nothing, services may: DM-5", async () => {
    const [ada, ben] = freshPair();
    const client = await join(freshRoom(), ada);
    // Ten a minute come back meanwhile, otherwise.
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
    onTestFinished(() => void vi.useRealTimers());
    expect((await open(ada, `${ben}-0`)).status).toBe(201);
    for (let i = 0; i < 2; i++) {
      expect((await open(ada, `${ben}-0`)).status).toBe(200);
      expect(await client.ask("open-dm", { user: `${ben}-0` })).toMatchObject({ isNew: false });
    }
    expect(await client.ask("open-dm", { user: `${ben}-1` })).toMatchObject({ ok: true });
    for (let i = 2; i < 20; i++) expect((await open(ada, `${ben}-${i}`)).status).toBe(201);
    const { status, body, headers } = await open(ada, `${ben}-20`);
    expect([status, body.error?.code]).toEqual([429, "RATE_LIMITED"]);
    expect(Number(headers.get("Retry-After"))).toBeGreaterThan(0);
    expect(await client.ask("open-dm", { user: `${ben}-21` })).toMatchObject({ error: { code: "RATE_LIMITED" } });
    const asService = { body: { user: `${ben}-22`, as: ada } };
    expect((await callApi("POST", "/api/dms", asService)).status).toBe(201);
    expect((await open(ben, `${ada}-1`)).status).toBe(201);
  });

  it("refusals name the reason", async () => {
    const [ada, ben] = freshPair();
    const codeOf = async (opened: ReturnType<typeof open>) => {
      const { status, body } = await opened;
      return [status, body.error?.code];
    };
    expect(await codeOf(open(ada, ada))).toEqual([400, "INVALID_PAYLOAD"]);
    expect(await codeOf(open(ada, ""))).toEqual([400, "INVALID_PAYLOAD"]);
    expect(await codeOf(open(ada, "x".repeat(129)))).toEqual([400, "INVALID_PAYLOAD"]);
    expect(await codeOf(open(ada, ben, null))).toEqual([401, "UNAUTHORIZED"]);
    expect(await codeOf(open(ada, ben, { user: ada, role: "reader" }))).toEqual([403, "FORBIDDEN"]);
    for (const rooms of [[], ["general"], ["dm-*"]])
      expect(await codeOf(open(ada, ben, asMember(ada, rooms)))).toEqual([403, "FORBIDDEN_ROOM"]);
    expect(await codeOf(open(ada, ben, asMember(ada, ["general", "dm~*"])))).toEqual([201, undefined]);
    expect((await callApi("GET", "/api/dms", { as: null })).status).toBe(401);
    expect((await callApi("GET", "/api/dms?cursor=x", { as: asMember(ada) })).status).toBe(400);
    const body = { user: "cleo", as: ben };
    expect((await callApi("POST", "/api/dms", { body, as: asMember(ada) })).status).toBe(403);
    expect((await callApi("POST", "/api/dms", { body })).status).toBe(201);
  });
});

describe("admission: DM-2", () => {
  it("the two of them, where their tokens open such rooms; none of them as a moderator", async () => {
    const [ada, ben] = freshPair();
    const { room } = (await open(ada, ben)).body;
    const one = await join(room, ada);
    const other = await RawClient.open({ room });
    await other.connect({ token: await tokenFor(ben, { rooms: ["general", "dm~*"], role: "moderator" }) });
    expect((await other.receives<Welcome>("welcome"))[0]).toMatchObject({
      room,
      role: "member",
      presence: { count: 2 },
    });
    expect(await other.ask("kick", { user: ada })).toMatchObject({ error: { code: "FORBIDDEN" } });
    expect(await other.ask("chat-message", { content: "psst" })).toMatchObject({ ok: true, seq: 1 });
    expect(await one.receives<Message>("chat-message")).toMatchObject([{ content: "psst", sender: ben, room }]);
    await listed(ada, [{ room, user: ben, lastSeq: 1, unread: 1 }]);
    expect(await one.ask("read", { seq: 1 })).toEqual({ ok: true });
    one.close();
    other.close();
    await listed(ada, [{ room, user: ben, lastSeq: 1, unread: 0 }]);
  });

  it("neither of them by a token that names other rooms: not in, not to their list, not to their files", async () => {
    const [ada, ben] = freshPair();
    const { room } = (await open(ada, ben)).body;
    const one = await join(room, ada);
    await one.ask("chat-message", { content: "psst" });
    await listed(ada, [{ room, lastSeq: 1 }]);
    for (const rooms of [["support"], [], ["dm-*"], ["dm~"]]) {
      expect(await refusalOf(room, ada, { rooms })).toMatchObject({ data: { code: "FORBIDDEN_ROOM" } });
      const list = await callApi("GET", "/api/dms", { as: asMember(ada, rooms) });
      expect([list.status, list.body.error?.code]).toEqual([403, "FORBIDDEN_ROOM"]);
      const upload = await request("POST", `/api/rooms/${room}/files?name=a.txt`, {
        as: asMember(ada, rooms),
        body: "hello",
        headers: { "Content-Type": "text/plain", "Content-Length": "5" },
      });
      expect(upload.status).toBe(403);
      await upload.body?.cancel();
      expect(await one.ask("refresh-token", { token: await tokenFor(ada, { rooms }) })).toMatchObject({
        error: { code: "FORBIDDEN" },
      });
    }
    for (const rooms of [["support", "dm~*"], ["*"], [room]]) {
      const client = await RawClient.open({ room });
      await client.connect({ token: await tokenFor(ada, { rooms }) });
      expect(await client.receives<Welcome>("welcome")).toMatchObject([{ room, user: ada }]);
      client.close();
    }
  });

  it("no other user, by no token, socket or polling; and no user at all before it is open", async () => {
    const [ada, ben] = freshPair();
    const room = directRoomOf(ada, ben);
    const refused = { data: { code: "FORBIDDEN_ROOM" } };
    expect(await refusalOf(room, ada)).toMatchObject(refused);
    await open(ada, ben);
    for (const role of ["member", "reader", "moderator", "service"])
      for (const rooms of [undefined, ["*"], ["dm~*"], [room]])
        expect(await refusalOf(room, "zoe", { role, ...(rooms && { rooms }) })).toMatchObject(refused);
    const token = await tokenFor("zoe");
    const headers = { Authorization: `Bearer ${token}` };
    for (const path of [`/rooms/${room}/socket.io/`, "/socket.io/"]) {
      const polled = await request("GET", `${path}?EIO=4&transport=polling&room=${room}`, { as: null, headers });
      expect(polled.status).toBe(403);
      await polled.body?.cancel();
    }
    expect(await refusalOf("dm~anything", ada)).toMatchObject(refused);
    const client = await join(room, ada);
    expect(await client.ask("refresh-token", { token: await tokenFor("zoe") })).toMatchObject({
      error: { code: "FORBIDDEN" },
    });
  });

  it("the room itself refuses other names", async () => {
    const [ada, ben] = freshPair();
    const room = directRoomOf(ada, ben);
    expect(await stubOf(room).openDirect([ada, "zoe"])).toMatchObject({ error: { code: "FORBIDDEN" } });
    expect(await stubOf(room).openDirect([ben, ada])).toMatchObject({ ok: true, isNew: true });
    const caller = { user: "zoe", name: "Zoe", role: "service" } as const;
    expect(await stubOf(room).ask("history", caller, {})).toMatchObject({ error: { code: "FORBIDDEN" } });
  });
});

describe("no other access: DM-3", () => {
  it("neither a service nor a moderator reads, lists, links, drains, or announces to it", async () => {
    const [ada, ben] = freshPair();
    const { room } = (await open(ada, ben)).body;
    const one = await join(room, ada);
    await one.ask("chat-message", { content: "secret" });
    await listed(ben, [{ room, lastSeq: 1 }]);
    const calls: ReadonlyArray<readonly [string, string, object?]> = [
      ["GET", `/api/rooms/${room}`],
      ["GET", `/api/rooms/${room}/messages`],
      ["POST", `/api/rooms/${room}/messages`, { content: "x" }],
      ["POST", `/api/rooms/${room}/messages`, { content: "x", as: ada }],
      ["GET", `/api/rooms/${room}/search?query=secret`],
      ["GET", `/api/rooms/${room}/members`],
      ["GET", `/api/rooms/${room}/export`],
      ["GET", `/api/rooms/${room}/audit`],
      ["GET", `/api/rooms/${room}/links`],
      ["POST", `/api/rooms/${room}/links`, { to: "elsewhere" }],
      ["POST", "/api/rooms/elsewhere/links", { to: room }],
      ["POST", `/api/rooms/${room}/moderation`, { action: "read-only", on: true }],
      ["POST", "/api/drain", { rooms: [room], reconnectWithinMs: 0 }],
      ["POST", "/api/announce", { rooms: [room], data: 1 }],
    ];
    for (const role of ["service", "moderator"])
      for (const user of ["backend", ada])
        for (const [method, path, body] of calls) {
          const { status, body: said } = await callApi(method, path, { as: { role, user }, ...(body && { body }) });
          expect([method, path, status], JSON.stringify(said)).toEqual([method, path, 403]);
        }
    for (const role of ["service", "moderator", "member"])
      expect((await callApi("GET", "/api/rooms?prefix=dm", { as: { role } })).body.rooms).toEqual([]);
    const { body } = await callApi("POST", "/api/announce", { body: { prefix: "dm", data: "all" } });
    await vi.waitFor(async () => expect((await callApi("GET", `/api/announce/${body.id}`)).body.done).toBe(true));
    expect(one.received("announcement")).toEqual([]);
    expect(await list("zoe")).toEqual([]);
  });

  it("files are for the two of them; a service may delete the room, and all is gone", async () => {
    const [ada, ben] = freshPair();
    const { room } = (await open(ada, ben)).body;
    const upload = (as: object) =>
      request("POST", `/api/rooms/${room}/files?name=a.txt`, {
        as,
        body: "hello",
        headers: { "Content-Type": "text/plain", "Content-Length": "5" },
      });
    const stored = await upload(asMember(ada));
    expect(stored.status).toBe(201);
    const { attachment } = await stored.json<{ attachment: { key: string } }>();
    for (const as of [asMember("zoe"), { user: "backend" }]) {
      const refused = await upload(as);
      expect(refused.status).toBe(403);
      await refused.body?.cancel();
    }
    const statusFor = async (user: string) => {
      const response = await request("GET", `/files/${attachment.key}`, { as: asMember(user) });
      await response.body?.cancel();
      return response.status;
    };
    expect([await statusFor(ada), await statusFor(ben)]).toEqual([200, 200]);
    expect(await statusFor("zoe")).toBeGreaterThanOrEqual(403);
    await listed(ada, [{ room }]);
    expect((await callApi("DELETE", `/api/rooms/${room}`, { as: asMember(ada) })).status).toBe(403);
    expect((await callApi("DELETE", `/api/rooms/${room}`)).status).toBe(200);
    await listed(ada, []);
    expect(await list(ada)).toEqual([]);
    expect(await refusalOf(room, ada)).toMatchObject({ data: { code: "FORBIDDEN_ROOM" } });
  });
});

describe("a service whose token names other rooms: DM-3", () => {
  const bound = { role: "service", rooms: ["general"] } as const;

  it("neither deletes, drains nor lists rooms between two people", async () => {
    const [ada, ben] = freshPair();
    const { room } = (await open(ada, ben)).body;
    const one = await join(room, ada);
    await listed(ada, [{ room, user: ben }]);
    expect(await callApi("DELETE", `/api/rooms/${room}`, { as: bound })).toMatchObject({ status: 403 });
    expect(await callApi("GET", `/api/dms?as=${ada}`, { as: bound })).toMatchObject({ status: 403 });
    const drained = await callApi("POST", "/api/drain", { as: bound, body: { reconnectWithinMs: 0 } });
    expect(drained).toMatchObject({ status: 200, body: { rooms: [] } });
    expect(await one.ask("read-marks", {})).toMatchObject({ ok: true });
  });

  it("a service that may drain all rooms learns no names of them", async () => {
    const [ada, ben] = freshPair();
    const { room } = (await open(ada, ben)).body;
    const one = await join(room, ada);
    await listed(ada, [{ room, user: ben }]);
    let isClosed = false;
    const closing = one.closes().finally(() => (isClosed = true));
    const answers: unknown[] = [];
    // The room reports its first member within a second; until then it is listed as empty, and not drained.
    await vi.waitFor(
      async () => {
        answers.push((await callApi("POST", "/api/drain", { body: { reconnectWithinMs: 0 } })).body);
        expect(isClosed).toBe(true);
      },
      { interval: 250 },
    );
    expect(JSON.stringify(answers)).not.toContain("dm~");
    expect(await closing).toMatchObject({ code: 1012 });
  });
});

it("each room names the other one, by the newest name that it knows, in its welcome and in the lists: DM-6", async () => {
  const [ada, ben] = freshPair();
  const room = freshRoom();
  const named = async (room: string, user: string, name: string): Promise<RawClient> => {
    const client = await RawClient.open({ room });
    await client.connect({ token: await tokenFor(user, { name }) });
    return client;
  };
  const other = async (client: RawClient) => (await client.receives<Welcome>("welcome"))[0]!.direct;
  const here = await named(room, ada, "Ada");
  const there = await named(room, ben, "Ben <b>");
  expect(await other(here)).toBe(undefined);
  const opened = await here.ask<{ room: string }>("open-dm", { user: ben });
  // He has never been in it.
  const one = await named(opened.room, ada, "Ada");
  expect(await other(one)).toEqual({ user: ben, name: "Ben <b>" });
  await one.ask("chat-message", { content: "psst" });
  one.close();
  const two = await named(opened.room, ben, "Benedict");
  expect(await other(two)).toEqual({ user: ada, name: "Ada" });
  const again = await named(opened.room, ada, "Ada L.");
  expect(await other(again)).toEqual({ user: ben, name: "Benedict" });
  await vi.waitFor(async () => {
    const { body } = await callApi("GET", "/api/unread", { as: asMember(ben) });
    const listed = (body.rooms as ReadonlyArray<{ room: string }>).find((one) => one.room === opened.room);
    expect(listed).toMatchObject({ unread: 1, direct: { user: ada, name: "Ada L." } });
  });
  for (const client of [here, there, two, again]) client.close();
});

it("DM-1: a reader opens none, with any grant of a room", async () => {
  const [ada, ben] = freshPair();
  const room = freshRoom();
  await callApi("POST", `/api/rooms/${room}/moderation`, { body: { action: "grant", user: ada, role: "member" } });
  const client = await RawClient.open({ room });
  await client.connect({ token: await tokenFor(ada, { role: "reader" }) });
  expect(await client.ask("open-dm", { user: ben })).toMatchObject({ error: { code: "FORBIDDEN" } });
});

it("DM-4: page by page, the newest first", async () => {
  const [ada] = freshPair();
  const others = ["one", "two", "three"].map((name) => `${name}-${ada}`);
  for (const other of others) {
    const { room } = (await open(ada, other)).body;
    const client = await join(room, other);
    await client.ask("chat-message", { content: "hello" });
    client.close();
  }
  const expected = others.toReversed().map((user) => ({ user, lastSeq: 1, unread: 1 }));
  await listed(ada, expected);
  const pages = await pagesFrom("/api/dms?limit=1", { as: asMember(ada) });
  expect(pages.map(({ dms }) => dms)).toMatchObject(expected.map((one) => [one]));
});
