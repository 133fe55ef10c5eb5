// The Worker's side of the relay: one call per room, retries, dead letters, and the calls of operators.
import { createExecutionContext, createMessageBatch, getQueueResult } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { DEAD_LETTERS_MAX, DeadLetters } from "../../src/features/dead-letters/object.ts";
import { directory, search, type ParleyOptions } from "../../src/entries/bare.ts";
import worker from "../../src/index.ts";
import { DEAD_LETTERS_NAME } from "../../src/rpc/relay.ts";
import { ANNOUNCE_VERSION, type AnnouncePart } from "../../src/protocol/announcement.ts";
import type { Message } from "../../src/protocol/chat-events.ts";
import { RELAY_VERSION, type DeadLetter, type RelayBatch } from "../../src/protocol/relay-batch.ts";
import { UNREADABLE } from "../../src/relay/readable-batch.ts";
import { RELAY_TRIES_MAX } from "../../src/relay/tries.ts";
import { callApi, deadLettersTo, type CallOptions } from "../durable/api-caller.ts";
import { RELAY_ROOMS, whenTaking } from "../durable/relay-taking.ts";
import { freshRoom, join, useSettings, workerWith } from "../durable/rooms.ts";

useSettings({ API_RATE: "10000", API_BURST: "10000" });

const logged: Array<Record<string, unknown>> = [];
beforeEach(() => {
  logged.length = 0;
  vi.spyOn(console, "warn").mockImplementation((line: string) => void logged.push(JSON.parse(line)));
});
afterEach(() => vi.restoreAllMocks());

/** Messages `after + 1` to `upTo` of a room, as its link would pass them on. */
function batchOf(from: string, to: string, after: number, upTo: number, linkedAtMs = 1000): RelayBatch {
  const items = Array.from({ length: upTo - after }, (_, i) => {
    const seq = after + i + 1;
    return { seq, sender: "ada", name: "Ada", content: `${seq}`, root: { room: from, epoch: "e1", seq }, hops: 1 };
  });
  const changes = { after: linkedAtMs, upTo: linkedAtMs, items: [] };
  const posts = { after, upTo, items };
  return { v: RELAY_VERSION, from, to, epoch: "e1", sinceSeq: 0, linkedAtMs, posts, changes };
}

async function consume(
  bodies: readonly unknown[],
  {
    attempts = 1,
    queue = "parley-relay",
    settings = {},
  }: { attempts?: number; queue?: string; settings?: object } = {},
) {
  const messages = bodies.map((body, i) => ({ id: `m${i}`, timestamp: new Date(), attempts, body }));
  const batch = createMessageBatch(queue, messages);
  await worker.queue(batch, { ...env, ...settings });
  const { explicitAcks, retryMessages, retryBatch, ackAll } = await getQueueResult(batch, createExecutionContext());
  return { acked: ackAll ? "all" : explicitAcks, retried: retryMessages.map(({ msgId }) => msgId), retryBatch };
}

const contentsOf = async (room: string): Promise<string[]> =>
  ((await callApi("GET", `/api/rooms/${room}/messages`)).body.messages as Message[]).map(({ content }) => content);

const listDead = async (query = "", options: CallOptions = {}): Promise<{ letters: DeadLetter[]; hasMore: boolean }> =>
  (await callApi("GET", `/api/relay/dead${query}`, options)).body;

const replay = (body: object = {}, options: CallOptions = {}) =>
  callApi("POST", "/api/relay/dead/replay", { body, ...options });

describe("a batch of the queue", () => {
  it("RLY-4: goes to each room in one call, in the order of its messages", async () => {
    const [from, a, b] = [freshRoom(), freshRoom(), freshRoom()];
    const calls = vi.spyOn(RELAY_ROOMS, "takeRelayed");
    const result = await consume([
      batchOf(from, a, 2, 3),
      batchOf(from, b, 0, 1),
      batchOf(from, a, 0, 1),
      batchOf(from, a, 1, 2),
    ]);
    expect(calls).toHaveBeenCalledTimes(2);
    expect(result.acked).toEqual(["m0", "m1", "m2", "m3"]);
    expect([await contentsOf(a), await contentsOf(b)]).toEqual([["1", "2", "3"], ["1"]]);
  });

  it("RLY-3: that comes twice changes nothing, and is acknowledged", async () => {
    const [from, to] = [freshRoom(), freshRoom()];
    for (let i = 0; i < 3; i++) expect((await consume([batchOf(from, to, 0, 2)])).acked).toEqual(["m0"]);
    expect((await consume([batchOf(from, to, 0, 3)])).acked).toEqual(["m0"]);
    expect(await contentsOf(to)).toEqual(["1", "2", "3"]);
  });

  it("RLY-4: that is early is retried, not logged at first, and holds up no other", async () => {
    const [from, a, b] = [freshRoom(), freshRoom(), freshRoom()];
    const result = await consume([batchOf(from, a, 1, 2), batchOf(from, b, 0, 1)]);
    expect(result).toMatchObject({ acked: ["m1"], retried: ["m0"] });
    expect(logged).toEqual([]);
    await consume([batchOf(from, a, 1, 2)], { attempts: 5 });
    expect(logged).toMatchObject([{ event: "relay.retry", from, to: a, messages: 1, attempts: 5 }]);
    expect(JSON.stringify(logged)).not.toContain("Ada");
  });

  it("RLY-9: for an unreachable room holds up no other", async () => {
    const [from, a, b] = [freshRoom(), freshRoom(), freshRoom()];
    whenTaking(async (batches, proceed) => {
      if (batches[0]!.to === a) throw new Error("out of order");
      return proceed();
    });
    const result = await consume([batchOf(from, a, 0, 1), batchOf(from, b, 0, 1)]);
    expect(result).toMatchObject({ acked: ["m1"], retried: ["m0"] });
  });

  it("RLY-9: that is unreadable or of another version is retried and logged, and holds up no other", async () => {
    const [from, to] = [freshRoom(), freshRoom()];
    const newer = { ...batchOf(from, to, 0, 1), v: RELAY_VERSION + 1 };
    const strange = [null, "hello", {}, { to }, newer, { ...batchOf(from, to, 0, 1), posts: undefined }];
    const result = await consume([...strange, batchOf(from, to, 0, 1)], { attempts: 3 });
    expect(result).toMatchObject({ acked: ["m6"], retried: ["m0", "m1", "m2", "m3", "m4", "m5"] });
    expect(await contentsOf(to)).toEqual(["1"]);
    expect(logged.map(({ event, to }) => [event, to])).toEqual(
      ["", "", "", to, to, to].map((to) => ["relay.retry", to]),
    );
    const room = env.CHAT_ROOM.getByName(to);
    const outcomes = await room.takeRelayed([newer as unknown as RelayBatch, batchOf(from, to, 1, 2)]);
    expect(outcomes).toMatchObject([{ ok: false, isFinal: false, reason: UNREADABLE }, { ok: true }]);
  });

  it("RLY-9: with one malformed message or change holds up no other for the same room", async () => {
    const [from, other, to] = [freshRoom(), freshRoom(), freshRoom()];
    const sound = batchOf(from, to, 0, 1);
    const change = { seq: 1, timestamp: 1, rev: 1001, rootRev: 1001, root: sound.posts.items[0]!.root, by: "ada" };
    const holding = (post: object, changed: object): object => ({
      ...sound,
      posts: { ...sound.posts, items: [{ ...sound.posts.items[0], ...post }] },
      changes: { after: 1000, upTo: 1001, items: [{ ...change, ...changed }] },
    });
    const weird = { toString: 1 };
    const posts = [
      { root: undefined },
      { root: { room: from, seq: 1 } },
      { hops: weird },
      { content: weird },
      { sender: null },
      { seq: "1" },
      { name: 1 },
      { sender: { length: weird } },
      { root: { room: "no room", epoch: "e1", seq: 1 } },
      { root: { room: from, epoch: "e1", seq: 1.5 } },
    ].map((post) => holding(post, {}));
    const changes = [{ rev: weird }, { root: null }, { by: weird }, { content: 5 }, { rootRev: "9" }].map((changed) =>
      holding({}, changed),
    );
    const strange = [...posts, ...changes, { ...sound, from: "no room" }, { ...sound, linkedAtMs: -1 }];
    const result = await consume([...strange, batchOf(other, to, 0, 1)]);
    expect(result).toMatchObject({ acked: [`m${strange.length}`], retried: strange.map((_, i) => `m${i}`) });
    const room = env.CHAT_ROOM.getByName(to);
    const outcomes = await room.takeRelayed([...(strange as RelayBatch[]), batchOf(other, to, 1, 2)]);
    expect(outcomes.map(({ ok }) => ok)).toEqual([...strange.map(() => false), true]);
    expect(await contentsOf(to)).toEqual(["1", "2"]);
  });

  it("RLY-10: waits while RELAY is off, or a setting is wrong", async () => {
    vi.spyOn(console, "error").mockImplementation(() => {});
    const [from, to] = [freshRoom(), freshRoom()];
    for (const settings of [{ RELAY: "off" }, { RELAY: "on" }]) {
      const result = await consume([batchOf(from, to, 0, 1)], { settings });
      expect(result.retryBatch).toMatchObject({ retry: true });
    }
    expect(await contentsOf(to)).toEqual([]);
  });
});

describe("dead letters", () => {
  const letters = () => env.DEAD_LETTERS.getByName(DEAD_LETTERS_NAME);
  /** So many of one batch. Tests that add many remove them: others read all that there are. */
  const addDead = (from: string, to: string, count: number): Promise<void> =>
    letters().add(Array.from({ length: count }, () => ({ batch: batchOf(from, to, 0, 1), reason: "tried too often" })));

  it("RLY-9: one that cannot be stored holds up no other", async () => {
    const [from, a, b] = [freshRoom(), freshRoom(), freshRoom()];
    const original = Reflect.get(DeadLetters.prototype, "add");
    vi.spyOn(DeadLetters.prototype, "add").mockImplementation(function (this: DeadLetters, dead) {
      if (dead.some(({ batch }) => "from" in batch && batch.to === a)) throw new Error("nests too deep");
      return original.call(this, dead);
    });
    const bodies = [batchOf(from, a, 0, 1), batchOf(from, b, 0, 1)];
    await expect(consume(bodies, { queue: "parley-relay-dead" })).rejects.toThrow("nests too deep");
    expect(await deadLettersTo(b)).toHaveLength(1);
    expect(await deadLettersTo(a)).toEqual([]);
  });

  it("ANN-6: an announcement that was stored whole is replayed to all of its rooms", async () => {
    const rooms = [freshRoom(), freshRoom()];
    const people = [await join(rooms[0]!, "ada"), await join(rooms[1]!, "ben")];
    const id = freshRoom();
    const part: AnnouncePart = {
      announce: { v: ANNOUNCE_VERSION, id, data: "news", at: 1, by: { user: "backend", name: "backend" } },
      part: 0,
      tries: 0,
      to: rooms.map((room) => ({ room })),
    };
    await letters().add([{ batch: part, reason: UNREADABLE }]);
    await replay();
    for (const person of people) expect(await person.receives("announcement")).toEqual([{ id, data: "news" }]);
  });

  it("RLY-9: a batch that is refused for good is stored at once, listed without contents, and stays", async () => {
    const [from, to] = [freshRoom(), freshRoom()];
    await consume([batchOf(from, to, 0, 1, 2000)]);
    expect((await consume([batchOf(from, to, 0, 1, 1000)])).acked).toEqual(["m0"]);
    const [letter] = await deadLettersTo(to);
    expect(letter).toEqual({
      id: expect.any(Number),
      at: expect.any(Number),
      from,
      to,
      messages: 1,
      changes: 0,
      reason: "the link was removed or set again",
    });
    expect(logged).toMatchObject([{ event: "relay.dead", from, to, attempts: 1 }]);
    const { status, body } = await replay({ ids: [letter!.id] });
    expect({ status, body }).toEqual({
      status: 200,
      body: { ok: true, replayed: [], failed: [{ id: letter!.id, reason: letter!.reason }] },
    });
    expect(await deadLettersTo(to)).toHaveLength(1);
  });

  it("RLY-9: batches of the dead letter queue are stored; replayed they arrive once, in order", async () => {
    const [from, to] = [freshRoom(), freshRoom()];
    const bodies = [batchOf(from, to, 2, 3), batchOf(from, to, 0, 2)];
    expect((await consume(bodies, { queue: "parley-relay-dead", attempts: RELAY_TRIES_MAX })).acked).toEqual([
      "m0",
      "m1",
    ]);
    const [late, early] = await deadLettersTo(to);
    expect((await replay({ ids: [late!.id] })).body).toMatchObject({ replayed: [], failed: [{ id: late!.id }] });
    expect((await replay({ ids: [late!.id, early!.id] })).body).toEqual({
      ok: true,
      replayed: [late!.id, early!.id],
      failed: [],
    });
    expect(await contentsOf(to)).toEqual(["1", "2", "3"]);
    expect(await deadLettersTo(to)).toEqual([]);
    expect((await replay({ ids: [late!.id] })).body).toEqual({ ok: true, replayed: [], failed: [] });
  });

  it("RLY-9: stay in the queue where they cannot be stored", async () => {
    const [from, to] = [freshRoom(), freshRoom()];
    const settings = { DEAD_LETTERS: undefined };
    await expect(consume([batchOf(from, to, 0, 1)], { queue: "parley-relay-dead", settings })).rejects.toThrow(
      /DEAD_LETTERS/,
    );
    await consume([batchOf(from, to, 0, 1, 2000)]);
    expect(await consume([batchOf(from, to, 0, 1)], { settings })).toMatchObject({ acked: [], retried: ["m0"] });
  });

  it("RLY-9: unreadable ones are listed, can be discarded, and hide no others", async () => {
    const [from, to] = [freshRoom(), freshRoom()];
    await consume([null, { v: RELAY_VERSION + 1, from, to }, batchOf(from, to, 0, 1)], { queue: "parley-relay-dead" });
    const [unknown, newer, good] = (await listDead("?limit=200")).letters.slice(-3);
    expect([unknown, newer]).toMatchObject([
      { from: "", to: "", messages: 0, changes: 0 },
      { from, to, messages: 0 },
    ]);
    const ids = [unknown!.id, newer!.id, good!.id];
    expect((await replay({ ids })).body).toMatchObject({
      replayed: [good!.id],
      failed: ids.slice(0, 2).map((id) => ({ id, reason: UNREADABLE })),
    });
    const discard = (id: number, options: CallOptions = {}) => callApi("DELETE", `/api/relay/dead/${id}`, options);
    for (const rooms of [[from], [to]])
      expect(await discard(newer!.id, { as: { rooms } })).toMatchObject({ status: 404 });
    expect(await discard(newer!.id, { as: { role: "moderator" } })).toMatchObject({ status: 403 });
    for (const id of ids.slice(0, 2)) {
      expect(await discard(id)).toMatchObject({ status: 200, body: { ok: true } });
      expect(await discard(id)).toMatchObject({ status: 404, body: { error: { code: "NOT_FOUND" } } });
    }
    expect(await deadLettersTo(to)).toEqual([]);
    expect(await discard(1, { fetcher: workerWith({ DEAD_LETTERS: undefined }) })).toMatchObject({ status: 503 });
    expect(await callApi("DELETE", "/api/relay/dead/x")).toMatchObject({ status: 400 });
  });

  it("RLY-9: the oldest of too many are forgotten, and that is logged", async () => {
    const errors = vi.spyOn(console, "error").mockImplementation(() => {});
    const [from, to] = [freshRoom(), freshRoom()];
    await addDead(from, to, DEAD_LETTERS_MAX);
    const oldest = (await listDead("?limit=1")).letters[0]!.id;
    await consume([batchOf(from, to, 0, 1)], { queue: "parley-relay-dead" });
    const ids = (await deadLettersTo(to)).map(({ id }) => id);
    expect(ids).toHaveLength(DEAD_LETTERS_MAX);
    expect(ids).not.toContain(oldest);
    expect(errors.mock.calls.flat().some((line) => String(line).includes("relay.forgotten"))).toBe(true);
    const replayed = await replay();
    expect(replayed.body.replayed).toHaveLength(100);
    expect(await contentsOf(to)).toEqual(["1"]);
    await letters().remove(ids);
  });

  it("RLY-9: a replay of the oldest skips those of rooms that the token does not open", async () => {
    const [from, to, other] = [freshRoom(), freshRoom(), freshRoom()];
    await addDead(from, other, 120);
    await addDead(from, to, 1);
    const { replayed } = (await replay({}, { as: { rooms: [from, to] } })).body;
    expect(replayed).toHaveLength(1);
    expect(await contentsOf(to)).toEqual(["1"]);
    await letters().remove((await deadLettersTo(other)).map(({ id }) => id));
  });

  it("RLY-9: are for services, for rooms that the token opens", async () => {
    const [from, to] = [freshRoom(), freshRoom()];
    await consume([batchOf(from, to, 1, 2)], { queue: "parley-relay-dead" });
    for (const role of ["moderator", "member", "reader"]) {
      for (const [method, path] of [
        ["GET", "/api/relay/dead"],
        ["POST", "/api/relay/dead/replay"],
      ] as const)
        expect(await callApi(method, path, { as: { role }, ...(method === "POST" && { body: {} }) })).toMatchObject({
          status: 403,
        });
    }
    expect(await callApi("GET", "/api/relay/dead", { as: null })).toMatchObject({ status: 401 });
    expect(await replay({ ids: [] })).toMatchObject({ status: 400 });
    for (const rooms of [[from], [to], ["elsewhere-*"]]) {
      const as = { rooms };
      expect((await listDead("?limit=200", { as })).letters.filter((letter) => letter.to === to)).toEqual([]);
    }
    const [letter] = (await listDead("?limit=200", { as: { rooms: [from, to] } })).letters;
    // It cannot send batches again that it could not see.
    expect((await replay({ ids: [letter?.id ?? 1] }, { as: { rooms: [to] } })).body).toMatchObject({
      replayed: [],
      failed: [],
    });
    const without = { fetcher: workerWith({ DEAD_LETTERS: undefined }) };
    for (const { status, body } of [await callApi("GET", "/api/relay/dead", without), await replay({}, without)])
      expect({ status, code: body.error.code }).toEqual({ status: 503, code: "MISCONFIGURED" });
  });
});

describe("links by HTTP", () => {
  const link = (room: string, body: object, options: CallOptions = {}) =>
    callApi("POST", `/api/rooms/${room}/links`, { body, ...options });

  it("RLY-8: are set one way or both ways, shown on both sides, and removed", async () => {
    const [a, b] = [freshRoom(), freshRoom()];
    for (let i = 0; i < 2; i++)
      expect(await link(a, { to: b, direction: "both" })).toMatchObject({ status: 200, body: { ok: true } });
    for (const [room, to] of [
      [a, b],
      [b, a],
    ]) {
      const { body } = await callApi("GET", `/api/rooms/${room}/links`);
      expect(body).toEqual({ ok: true, links: [{ to, at: expect.any(Number), seq: 0, failures: 0 }], feeds: [] });
    }
    const unlink = (query: string) => callApi("DELETE", `/api/rooms/${a}/links?${query}`);
    expect(await unlink(`to=${b}`)).toMatchObject({ status: 200 });
    expect(await unlink(`to=${b}`)).toMatchObject({ status: 404, body: { error: { code: "NOT_FOUND" } } });
    expect((await callApi("GET", `/api/rooms/${b}/links`)).body.links).toHaveLength(1);
    // A second try after a failure halfway reaches the other half.
    expect(await unlink(`to=${b}&direction=both`)).toMatchObject({ status: 200 });
    expect((await callApi("GET", `/api/rooms/${b}/links`)).body.links).toEqual([]);
    expect(await unlink(`to=${b}&direction=both`)).toMatchObject({ status: 404 });
    await link(a, { to: b, direction: "both" });
    await callApi("DELETE", `/api/rooms/${b}/links?to=${a}`);
    expect(await unlink(`to=${b}&direction=both`)).toMatchObject({ status: 200 });
  });

  it("RLY-8: are for services whose token opens both rooms", async () => {
    const [a, b] = [freshRoom(), freshRoom()];
    for (const role of ["moderator", "member", "reader"])
      expect(await link(a, { to: b }, { as: { role } })).toMatchObject({
        status: 403,
        body: { error: { code: "FORBIDDEN" } },
      });
    expect(await link(a, { to: b }, { as: null })).toMatchObject({ status: 401 });
    for (const rooms of [[a], [b]]) {
      const refused = { status: 403, body: { error: { code: "FORBIDDEN_ROOM" } } };
      expect(await link(a, { to: b }, { as: { rooms } })).toMatchObject(refused);
      expect(await callApi("DELETE", `/api/rooms/${a}/links?to=${b}`, { as: { rooms } })).toMatchObject(refused);
    }
    expect(await link(a, { to: b }, { as: { rooms: [a, b] } })).toMatchObject({ status: 200 });
  });

  it("RLY-8: refusals name the field or the missing binding", async () => {
    const room = freshRoom();
    expect(await link(room, {})).toMatchObject({ status: 400, body: { error: { issues: [{ path: "to" }] } } });
    expect(await link(room, { to: "-" })).toMatchObject({ status: 400, body: { error: { issues: [{ path: "to" }] } } });
    expect(await link(room, { to: "x", direction: "in" })).toMatchObject({ status: 400 });
    expect(await link(room, { to: room })).toMatchObject({ status: 403, body: { error: { code: "FORBIDDEN" } } });
    for (const name of ["RELAY_QUEUE", "DEAD_LETTERS"]) {
      const refused = await link(room, { to: "x" }, { fetcher: workerWith({ [name]: undefined }) });
      expect(refused).toMatchObject({ status: 503, body: { error: { code: "MISCONFIGURED" } } });
      expect(refused.body.error.message).toContain(name);
    }
  });

  it("RLY-10: RELAY=queue without its bindings is in the log at the start, once; without RELAY there are no links", async () => {
    const warnings = async (settings: Readonly<Record<string, unknown>>, options: ParleyOptions = {}) => {
      logged.length = 0;
      expect(await callApi("GET", "/api/rooms", { fetcher: workerWith(settings, options) })).toMatchObject({
        status: 200,
      });
      return logged.filter(({ event }) => event === "settings.warning").map(({ warning }) => warning);
    };
    const [RELAY_QUEUE, DEAD_LETTERS] = [undefined, undefined];
    const ofQueue = expect.stringMatching(/^RELAY: queue needs RELAY_QUEUE .* links and announcements are refused$/);
    expect(await warnings({ RELAY: "queue", RELAY_QUEUE })).toEqual([ofQueue]);
    expect(await warnings({ RELAY: "queue", DEAD_LETTERS })).toEqual([expect.stringContaining("DEAD_LETTERS")]);
    expect(await warnings({ RELAY: "queue" })).toEqual([]);
    expect(await warnings({ RELAY: "direct", RELAY_QUEUE })).toEqual([]);
    expect(await warnings({ RELAY_QUEUE })).toEqual([]);
    expect(await warnings({ RELAY: "queue", RELAY_QUEUE }, { bindings: { relayQueue: false } })).toEqual([]);
    const features = [search(), directory()];
    expect(await warnings({ RELAY: "queue", RELAY_QUEUE }, { features })).toEqual([]);
  });
});
