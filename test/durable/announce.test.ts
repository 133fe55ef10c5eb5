// Announcements by HTTP, through the real queue, to real rooms, and their cost: ANN-1 to ANN-8
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";

import { ANNOUNCE_ROOMS } from "./announce-taking.ts";
import type { AnnounceRpc } from "../../src/rpc/announcements.ts";
import { RELAY_TRIES_MAX } from "../../src/relay/tries.ts";
import type { DeadLetter } from "../../src/protocol/relay-batch.ts";
import { ANNOUNCE_VERSION, type AnnouncedHere, type AnnounceProgress } from "../../src/protocol/announcement.ts";
import type { Message } from "../../src/protocol/chat-events.ts";
import { callApi, deadLettersTo, type CallOptions } from "./api-caller.ts";
import { freshRoom, isArmed, join, Sleeper, stubOf, useSettings, workerWith } from "./rooms.ts";
import { rowsWrittenByAll, type Counted } from "./rows-written.ts";

useSettings({ API_RATE: "10000", API_BURST: "10000" });
// A room in which a test has left clients would wake to ping them while rows are counted.
beforeAll(() => callApi("POST", "/api/drain", { body: { reconnectWithinMs: 0 } }));
afterEach(() => vi.restoreAllMocks());

const announce = (body: object, options: CallOptions = {}) => callApi("POST", "/api/announce", { body, ...options });

async function progressOf(id: string, options: CallOptions = {}): Promise<AnnounceProgress> {
  return (await callApi("GET", `/api/announce/${id}`, options)).body;
}

const done = (id: string, counts: object): Promise<void> =>
  vi.waitFor(async () => expect(await progressOf(id)).toMatchObject({ done: true, ...counts }));

async function accepted(body: object, options: CallOptions = {}): Promise<string> {
  const answer = await announce(body, options);
  expect(answer).toMatchObject({ status: 202, body: { ok: true } });
  return answer.body.id;
}

// The first test of this file: no call has addressed users yet, so no room has reported its members.
const FOLLOWERS = 24;
const ROOMS = 8;

/** Until no alarm rings during one of them. */
const ANNOUNCEMENTS_MAX = 10;

interface Cost extends Counted {
  /** Of the queue. */
  readonly messages: number;
  /** Of rooms. */
  readonly calls: number;
}

const roomOf = (i: number): string => `followed-${i % ROOMS}`;

it("ANN-5, ANN-8: 24 followers in 8 rooms: a message of the queue, a call per room, and two rows in all", async () => {
  const users = Array.from({ length: FOLLOWERS }, (_, i) => `follower-${i}`);
  const people = await Promise.all(users.map((user, i) => join(roomOf(i), user)));
  const queued = vi.spyOn(env.RELAY_QUEUE, "sendBatch");
  const calls = vi.spyOn(ANNOUNCE_ROOMS, "takeAnnounced");

  async function announceAgain(data: string): Promise<Cost> {
    queued.mockClear();
    calls.mockClear();
    const { rows, alarms } = await rowsWrittenByAll(roomOf(0), async () => {
      const all = { accepted: FOLLOWERS, delivered: FOLLOWERS, absent: 0, failed: 0 };
      await done(await accepted({ users, data }), all);
    });
    const messages = queued.mock.calls.reduce((sum, [batch]) => sum + [...batch].length, 0);
    return { messages, calls: calls.mock.calls.length, rows, alarms };
  }

  expect(await announceAgain("nobody knows yet where they are")).toMatchObject({ messages: 2 });
  await vi.waitFor(
    async () => {
      const { found, unknown } = await env.LOBBY.getByName("0-of-1").find(users);
      expect(unknown).toEqual([]);
      expect(found.flatMap(([, here]) => here as readonly number[])).toHaveLength(FOLLOWERS);
    },
    { interval: 200 },
  );
  let announced = 1;
  let counted: Cost;
  // Again, if the alarm of any room rang meanwhile, also of those of other tests: it writes rows, too.
  do {
    for (let room = 0; room < ROOMS; room++) await isArmed(roomOf(room));
    counted = await announceAgain("now it is known");
    announced++;
  } while (counted.alarms > 0 && announced < ANNOUNCEMENTS_MAX);
  expect(counted).toEqual({ messages: 1, calls: ROOMS, rows: 2, alarms: 0 });
  for (const person of people) expect(await person.receives("announcement", announced)).toHaveLength(announced);
});

describe("to rooms: ANN-1", () => {
  it("every connection hears it once, by the event's name, or as `announcement {id, data}`", async () => {
    const [a, b, empty] = [freshRoom(), freshRoom(), freshRoom()];
    const people = [await join(a, "ada"), await join(a, "ada"), await join(b, "ben")];
    const id = await accepted({ rooms: [a, b, empty, a], data: { text: "hello" } });
    await done(id, { accepted: 3, delivered: 2, absent: 1, failed: 0 });
    for (const person of people)
      expect(await person.receives("announcement")).toEqual([{ id, data: { text: "hello" } }]);
    await done(await accepted({ rooms: [a, b], event: "news", data: [1, "two"] }), { accepted: 2, delivered: 2 });
    for (const person of people) expect(await person.receives("news")).toEqual([[1, "two"]]);
  });

  it("ANN-4: an announcement that comes twice is heard once, through sleep", async () => {
    const room = freshRoom();
    const ada = await join(room, "ada");
    const said: AnnouncedHere = {
      v: ANNOUNCE_VERSION,
      id: "twice",
      data: 1,
      at: 1,
      by: { user: "backend", name: "backend" },
    };
    const sleeper = new Sleeper(room);
    for (let i = 0; i < 3; i++) {
      expect(await stubOf(room).takeAnnounced([said])).toMatchObject([{ ok: true, isHeard: true }]);
      await sleeper.sleep();
    }
    await stubOf(room).takeAnnounced([{ ...said, id: "another" }]);
    const heard = await ada.receives("announcement", 2);
    expect(heard).toMatchObject([{ id: "twice" }, { id: "another" }]);
  });

  it("ANN-6: an announcement that a room cannot send is retried alone; the others of the call are sent", async () => {
    vi.spyOn(console, "error").mockImplementation(() => {});
    const room = freshRoom();
    const ada = await join(room, "ada");
    const said: AnnouncedHere = {
      v: ANNOUNCE_VERSION,
      id: "one",
      data: 1,
      at: 1,
      by: { user: "backend", name: "backend" },
    };
    const outcomes = await stubOf(room).takeAnnounced([said, { ...said, id: "two", event: "connect" }]);
    expect(outcomes).toMatchObject([
      { ok: true, isHeard: true },
      { ok: false, isFinal: false },
    ]);
    expect(await ada.receives("announcement")).toMatchObject([{ id: "one" }]);
  });

  it("ANN-3: each room stores a `chat-message` once, as the service's", async () => {
    const [a, b] = [freshRoom(), freshRoom()];
    const ada = await join(a, "ada");
    const body = { rooms: [a, b], event: "chat-message", data: { content: "We close at six" } };
    const headers = { "Idempotency-Key": "closing-1" };
    const id = await accepted(body, { headers });
    expect(await announce(body, { headers })).toMatchObject({ status: 202, body: { id, duplicate: true } });
    await done(id, { accepted: 2, delivered: 2 });
    expect(await ada.receives<Message>("chat-message")).toMatchObject([
      { sender: "backend", content: "We close at six" },
    ]);
    const { body: history } = await callApi("GET", `/api/rooms/${b}/messages`);
    expect(history.messages).toMatchObject([{ sender: "backend", content: "We close at six", clientMsgId: id }]);
  });

  it("ANN-5: by prefix, in pages, to occupied rooms", async () => {
    const rooms = Array.from({ length: 12 }, (_, i) => `team-${i}`);
    const people = await Promise.all(rooms.map((room) => join(room, "ada")));
    await vi.waitFor(async () =>
      expect((await callApi("GET", "/api/rooms?prefix=team-")).body.rooms).toHaveLength(rooms.length),
    );
    const id = await accepted({ prefix: "team-", data: "all teams" }, { as: { rooms: ["team-*"] } });
    await done(id, { accepted: 12, delivered: 12, absent: 0 });
    for (const person of people) expect(await person.receives("announcement")).toEqual([{ id, data: "all teams" }]);
  });
});

describe("to users: ANN-7", () => {
  it("every connection of theirs hears it in any room, and no other user; rooms report their members once users were addressed, and no other room is woken", async () => {
    const [a, b, c] = [freshRoom(), freshRoom(), freshRoom()];
    const ada = await join(a, "ada-8");
    await accepted({ users: ["nobody"], data: 1 });
    const theirs = [ada, await join(a, "ada-8"), await join(b, "ada-8"), await join(b, "ben-8")];
    const others = [await join(b, "late-8"), await join(c, "zoe-8")];
    await vi.waitFor(
      async () => {
        const [lobby] = [env.LOBBY.getByName("0-of-1")];
        const { found, unknown } = await lobby.find(["ada-8", "ben-8", "late-8"]);
        expect(unknown).toEqual([]);
        expect(Object.fromEntries(found)).toEqual({ [a]: [0], [b]: expect.arrayContaining([0, 1, 2]) });
      },
      { interval: 200 },
    );
    const calls = vi.spyOn(ANNOUNCE_ROOMS, "takeAnnounced");
    const id = await accepted({ users: ["ada-8", "ben-8"], data: "hi" });
    await done(id, { accepted: 2, delivered: 2, absent: 0, failed: 0 });
    expect(calls).toHaveBeenCalledTimes(2);
    for (const heard of theirs) expect(await heard.receives("announcement")).toEqual([{ id, data: "hi" }]);
    for (const other of others) expect(other.received("announcement")).toEqual([]);
  });
});

describe("access and input: ANN-2, ANN-3", () => {
  const refused = async (status: number, code: string, body: object, options: CallOptions = {}): Promise<string> => {
    const answer = await announce(body, options);
    expect({ status: answer.status, code: answer.body.error?.code }).toEqual({ status, code });
    return answer.body.error.message;
  };

  it("needs a service, with a token that opens all addressed rooms", async () => {
    const body = { rooms: ["a-1", "b-1"], data: 1 };
    await refused(401, "UNAUTHORIZED", body, { as: null });
    for (const role of ["moderator", "member", "reader"]) await refused(403, "FORBIDDEN", body, { as: { role } });
    await refused(403, "FORBIDDEN_ROOM", body, { as: { rooms: ["a-*"] } });
    await refused(403, "FORBIDDEN_ROOM", { users: ["ada"], data: 1 }, { as: { rooms: ["*"] } });
    for (const prefix of ["", "a", "b-"])
      await refused(403, "FORBIDDEN_ROOM", { prefix, data: 1 }, { as: { rooms: ["a-*", "a"] } });
    expect((await announce({ prefix: "a-b", data: 1 }, { as: { rooms: ["a-*"] } })).status).toBe(202);
    expect((await announce(body, { as: { rooms: ["a-1", "b-*"] } })).status).toBe(202);
  });

  it("takes one address, and no event of the chat", async () => {
    await refused(400, "INVALID_PAYLOAD", { data: 1 });
    await refused(400, "INVALID_PAYLOAD", { rooms: ["a"], users: ["ada"], data: 1 });
    await refused(400, "INVALID_PAYLOAD", { rooms: [], data: 1 });
    await refused(400, "INVALID_PAYLOAD", { rooms: ["-"], data: 1 });
    expect(await refused(400, "INVALID_PAYLOAD", { rooms: ["a"] })).toContain("data: is missing");
    const own = [
      "welcome",
      "presence",
      "notice",
      "error",
      "message-deleted",
      "moderation",
      "connect",
      "gap",
      "announcement",
    ];
    for (const event of own)
      expect(await refused(400, "INVALID_PAYLOAD", { rooms: ["a"], event, data: 1 })).toContain(event);
    await refused(400, "INVALID_PAYLOAD", { rooms: ["a"], event: "", data: 1 });
    const post = { event: "chat-message", data: { content: "x" } };
    await refused(400, "INVALID_PAYLOAD", { users: ["ada"], ...post });
    await refused(400, "INVALID_PAYLOAD", {
      rooms: ["a"],
      event: "chat-message",
      data: { content: "x", replyTo: "y" },
    });
    await refused(400, "INVALID_PAYLOAD", { rooms: ["a"], event: "chat-message", data: { content: " " } });
    await refused(413, "TOO_LONG", { rooms: ["a"], event: "chat-message", data: { content: "x".repeat(1001) } });
  });

  it("4,000 users and 400 rooms fit one call; more is refused with the limit", async () => {
    const users = Array.from({ length: 4000 }, (_, i) => `nobody-in-any-room-${i}`);
    expect((await announce({ users, data: 1 })).body).toMatchObject({ accepted: 4000 });
    await refused(400, "INVALID_PAYLOAD", { users: Array.from({ length: 10_001 }, (_, i) => `${i}`), data: 1 });
    await refused(400, "INVALID_PAYLOAD", { rooms: Array.from({ length: 5001 }, (_, i) => `r${i}`), data: 1 });
    await refused(413, "TOO_LONG", { rooms: ["a"], data: "x".repeat(32_768) });
    await refused(413, "TOO_LONG", { rooms: ["a"], data: "x".repeat(1_048_576) });
  });

  it("a deployment without a binding names it", async () => {
    expect(
      await refused(403, "FORBIDDEN", { rooms: ["a"], data: 1 }, { fetcher: workerWith({ RELAY: "off" }) }),
    ).toContain("RELAY");
    for (const name of ["ANNOUNCEMENTS", "RELAY_QUEUE", "DEAD_LETTERS", "LOBBY"]) {
      const fetcher = workerWith({ [name]: undefined });
      expect(await refused(503, "MISCONFIGURED", { users: ["ada"], data: 1 }, { fetcher })).toContain(name);
    }
  });

  it("ANN-6: progress is for services that open every room, and for the sender", async () => {
    const as = { user: "limited", rooms: ["a-*"] };
    const id = await accepted({ rooms: ["a-1"], data: 1 }, { as });
    await done(id, { accepted: 1, absent: 1 });
    const statusFor = async (who: CallOptions["as"]) =>
      (await callApi("GET", `/api/announce/${id}`, { as: who! })).status;
    expect(await statusFor(as)).toBe(200);
    expect(await statusFor({ ...as, user: "another" })).toBe(404);
    expect(await statusFor({ role: "member" })).toBe(403);
    expect(await statusFor(null)).toBe(401);
    expect((await callApi("GET", "/api/announce/unknown")).body.error.code).toBe("NOT_FOUND");
    const without = { fetcher: workerWith({ ANNOUNCEMENTS: undefined }) };
    expect((await callApi("GET", `/api/announce/${id}`, without)).status).toBe(503);
  });
});

describe("rooms that fail: ANN-6", () => {
  /** @param fail whether this call fails, before or after it is done */
  function whenAnnouncing(fail: (room: string) => "before" | "after" | undefined): void {
    const original = Reflect.get(ANNOUNCE_ROOMS, "takeAnnounced");
    vi.spyOn(ANNOUNCE_ROOMS, "takeAnnounced").mockImplementation(async function (this: AnnounceRpc, announcements) {
      const { ctx } = this as unknown as { readonly ctx: DurableObjectState };
      const when = fail(ctx.id.name!);
      if (when === "before") throw new Error("out of order");
      const outcomes = await original.call(this, announcements);
      if (when === "after") throw new Error("the line is dead");
      return outcomes;
    });
  }

  it("are retried alone, and no announcement is heard twice", async () => {
    const [a, b] = [freshRoom(), freshRoom()];
    const people = [await join(a, "ada"), await join(b, "ben")];
    let failures = 0;
    const calls: string[] = [];
    whenAnnouncing((room) => {
      calls.push(room);
      return room === b && failures++ < 2 ? "after" : undefined;
    });
    const id = await accepted({ rooms: [a, b], data: 1 });
    await done(id, { accepted: 2, delivered: 2, failed: 0 });
    for (const person of people) expect(await person.receives("announcement")).toEqual([{ id, data: 1 }]);
    expect(calls.filter((room) => room === a)).toHaveLength(1);
    expect(calls.filter((room) => room === b)).toHaveLength(3);
  });

  it("are dead letters after the last try, which can be replayed", async () => {
    vi.spyOn(console, "warn").mockImplementation(() => {});
    const room = freshRoom();
    const ada = await join(room, "ada");
    whenAnnouncing(() => "before");
    const part = {
      announce: { v: ANNOUNCE_VERSION, id: "lost", data: 1, at: 1, by: { user: "backend", name: "backend" } },
      part: 0,
      tries: RELAY_TRIES_MAX - 1,
      to: [{ room, number: 0 }],
    };
    await env.ANNOUNCEMENTS.getByName("all").begin("lost", { by: "backend", accepted: 1, parts: 1 });
    await env.RELAY_QUEUE.send(part);
    await done("lost", { accepted: 1, delivered: 0, absent: 0, failed: 1 });
    const letters = () => deadLettersTo(room);
    expect(await letters()).toMatchObject([{ announcement: "lost", to: room, reason: "tried too often" }]);
    const [{ id }] = (await letters()) as [DeadLetter];
    const replay = () => callApi("POST", "/api/relay/dead/replay", { body: { ids: [id] } });
    expect((await replay()).body).toMatchObject({ replayed: [], failed: [{ id }] });
    vi.restoreAllMocks();
    expect((await replay()).body).toEqual({ ok: true, replayed: [id], failed: [] });
    expect(await ada.receives("announcement")).toEqual([{ id: "lost", data: 1 }]);
    await done("lost", { delivered: 1, failed: 0 });
    expect(await letters()).toEqual([]);
  });
});
