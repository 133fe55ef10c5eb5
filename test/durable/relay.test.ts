// Rooms that mirror each other over a real queue: objects that sleep, abort in the middle of a batch or lose their answer; costs.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { env } from "cloudflare:workers";

import { ChatRoom } from "../../durable/chat-room.ts";
import type { Message } from "../../src/protocol/chat-events.ts";
import type { RelayBatch } from "../../src/protocol/relay-batch.ts";
import { callApi } from "./api-caller.ts";
import { whenTaking } from "./relay-taking.ts";
import { freshRoom, isArmed, join, LONG_WINDOW, Sleeper, stubOf, useSettings } from "./rooms.ts";
import { rowsWrittenByAll } from "./rows-written.ts";

useSettings({ MESSAGE_RATE: "10000", MESSAGE_BURST: "10000", API_RATE: "10000", API_BURST: "10000" });

const SLOW = { interval: 50 };
/** The other room has it before this one can note that. */
const NOTED_MS = 300;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const RUNS = 20;
const MESSAGES = 12;
const ROUNDS_MAX = 80;

const link = async (from: string, to: string, direction = "out"): Promise<void> => {
  const { status, body } = await callApi("POST", `/api/rooms/${from}/links`, { body: { to, direction } });
  expect({ status, body }).toEqual({ status: 200, body: { ok: true } });
};
const post = async (room: string, content: string): Promise<string> => {
  const { status, body } = await callApi("POST", `/api/rooms/${room}/messages`, { body: { content } });
  expect(status).toBe(201);
  return body.id as string;
};
const historyOf = async (room: string): Promise<Message[]> =>
  (await callApi("GET", `/api/rooms/${room}/messages?limit=200`)).body.messages;
const copiesIn = async (room: string): Promise<string[]> =>
  (await historyOf(room)).flatMap(({ origin, content }) => (origin ? [content] : []));
const arrive = (room: string, contents: readonly string[]): Promise<void> =>
  vi.waitFor(async () => expect(await copiesIn(room)).toEqual(contents), SLOW);

beforeEach(() => void vi.spyOn(console, "error").mockImplementation(() => {}));
beforeEach(() => void vi.spyOn(console, "warn").mockImplementation(() => {}));
afterEach(() => vi.restoreAllMocks());

describe("over the queue", () => {
  it("RLY-1, RLY-6: a message, its edit and its deletion arrive, through sleep on both sides", async () => {
    const [from, to] = [freshRoom(), freshRoom()];
    await link(from, to);
    const sleepers = [from, to].map((room) => new Sleeper(room));
    const sleep = (): Promise<void[]> => Promise.all(sleepers.map((sleeper) => sleeper.sleep()));
    const ben = await join(to, "ben");
    const id = await post(from, "helo");
    const [heard] = await ben.receives<Message>("chat-message");
    expect(heard).toMatchObject({
      room: to,
      seq: 1,
      sender: "backend",
      content: "helo",
      origin: { room: from, seq: 1 },
    });
    expect(Object.keys(heard!.origin!)).toEqual(["room", "seq"]);
    await pause(NOTED_MS);
    await sleep();
    await callApi("PATCH", `/api/rooms/${from}/messages/${id}`, { body: { content: "hello" } });
    await arrive(to, ["hello"]);
    expect((await historyOf(to))[0]).toMatchObject({ content: "hello", origin: { room: from, seq: 1 } });
    await pause(NOTED_MS);
    await sleep();
    await callApi("DELETE", `/api/rooms/${from}/messages/${id}`);
    await vi.waitFor(async () => expect((await historyOf(to))[0]).toMatchObject({ deleted: true }), SLOW);
    ben.close();
  });

  it("RLY-5: both ways: each room has the other's messages, and nothing comes back", async () => {
    const [a, b] = [freshRoom(), freshRoom()];
    await link(a, b, "both");
    await post(a, "from a");
    await post(b, "from b");
    await arrive(a, ["from b"]);
    await arrive(b, ["from a"]);
    await pause(1500);
    for (const room of [a, b]) expect(await historyOf(room)).toHaveLength(2);
  });

  it("RLY-8: a room gets each message once after it was deleted", async () => {
    const [from, to] = [freshRoom(), freshRoom()];
    await link(from, to);
    await post(from, "1");
    await arrive(to, ["1"]);
    await stubOf(to).deleteRoom();
    await post(from, "2");
    await arrive(to, ["2"]);
  });
});

type Spoiler = (state: DurableObjectState) => void;

/** Spoils the first answers of each room to the relay. */
function spoil(spoilers: readonly Spoiler[]): void {
  const asked = new Map<string, number>();
  whenTaking(async ([batch], proceed, state) => {
    const times = asked.get(batch!.to) ?? 0;
    asked.set(batch!.to, times + 1);
    const outcomes = await proceed();
    spoilers[times]?.(state);
    return outcomes;
  });
}

const throwIt: Spoiler = () => {
  throw new Error("the line broke");
};
const abort: Spoiler = (state) => state.abort("in mid-batch");

describe("faults", () => {
  it(`RLY-3: the consumer throws halfway, ${RUNS} times`, async () => {
    const pairs = Array.from({ length: RUNS }, () => [freshRoom(), freshRoom()] as const);
    for (const [from, to] of pairs) await link(from, to);
    const ends = new Set(pairs.map(([, to]) => to));
    const rooms = env.CHAT_ROOM;
    let [asked, thrown] = [0, 0];
    const getByName = (name: string): ReturnType<typeof stubOf> => {
      // Others of the same batch have been asked by then.
      if (ends.has(name) && ++asked % 7 === 0 && thrown < RUNS) {
        thrown++;
        throw new Error("halfway");
      }
      return rooms.getByName(name);
    };
    Object.assign(env, { CHAT_ROOM: { getByName } });
    const contents: string[] = [];
    const hasThrown = (): boolean => thrown === RUNS && contents.length >= MESSAGES;
    try {
      // Where the machine is slow, more of them travel together, and the consumer asks less often.
      while (!hasThrown() && contents.length < ROUNDS_MAX) {
        contents.push(`${contents.length + 1}`);
        await Promise.all(pairs.map(([from]) => post(from, contents.at(-1)!)));
        await pause(500);
      }
      expect(thrown, "how often the consumer has thrown").toBe(RUNS);
    } finally {
      Object.assign(env, { CHAT_ROOM: rooms });
    }
    for (const [, to] of pairs) await arrive(to, contents);
    await pause(2500);
    for (const [, to] of pairs) expect(await copiesIn(to)).toEqual(contents);
  });

  it.each([
    ["the line breaks after the room has taken it", [throwIt, throwIt]],
    ["the room is aborted in mid-batch", [abort, abort]],
    ["both", [abort, throwIt, abort]],
  ] as const)(`RLY-3, RLY-4: %s, ${RUNS} times: each message once and in order`, async (_what, how) => {
    const pairs = Array.from({ length: RUNS }, () => [freshRoom(), freshRoom()] as const);
    for (const [from, to] of pairs) await link(from, to);
    spoil(how);
    const contents = Array.from({ length: MESSAGES }, (_, i) => `${i + 1}`);
    await Promise.all(
      pairs.map(async ([from]) => {
        for (const content of contents) {
          await post(from, content);
          await pause(content.length * 40);
        }
      }),
    );
    for (const [, to] of pairs) await arrive(to, contents);
    // A batch that was sent again comes too late to be seen twice.
    await pause(2500);
    for (const [, to] of pairs) expect(await copiesIn(to)).toEqual(contents);
  });

  it("RLY-4: the queue loses a message: the next one misses it, and both arrive in order", async () => {
    const [from, to] = [freshRoom(), freshRoom()];
    await link(from, to);
    const queue = env["RELAY_QUEUE"] as Queue<RelayBatch>;
    const lossy = vi.spyOn(Object.getPrototypeOf(queue) as typeof queue, "send").mockResolvedValue({} as never);
    await post(from, "1");
    await vi.waitFor(() => expect(lossy).toHaveBeenCalled(), SLOW);
    await pause(NOTED_MS);
    lossy.mockRestore();
    await post(from, "2");
    await arrive(to, ["1", "2"]);
  });

  it("RLY-3: the room does not hear that the queue has it", async () => {
    const [from, to] = [freshRoom(), freshRoom()];
    await link(from, to);
    const queue = env["RELAY_QUEUE"] as Queue<RelayBatch>;
    const send = queue.send.bind(queue);
    let sent = 0;
    const spoiled = vi.spyOn(Object.getPrototypeOf(queue) as typeof queue, "send").mockImplementation(async (body) => {
      const answer = await send(body);
      if (++sent <= 2) throw new Error("the line broke");
      return answer;
    });
    await post(from, "1");
    await post(from, "2");
    await arrive(to, ["1", "2"]);
    spoiled.mockRestore();
    await pause(2500);
    expect(await copiesIn(to)).toEqual(["1", "2"]);
  });
});

describe("costs", () => {
  useSettings(LONG_WINDOW);

  /** Rows of both rooms, messages of the queue and calls of a room, while `contents` are posted and arrive. */
  async function cost(from: string, to: string, contents: readonly string[], rowsMin = 0) {
    const [calls, before] = [vi.spyOn(ChatRoom.prototype, "takeRelayed"), await copiesIn(to)];
    const batches = new Set<string>();
    const { rows, alarms } = await rowsWrittenByAll(from, async (soFar) => {
      await Promise.all(contents.map((content) => post(from, content)));
      await vi.waitFor(async () => expect(await copiesIn(to)).toHaveLength(before.length + contents.length), SLOW);
      await vi.waitFor(() => expect(soFar().rows).toBeGreaterThanOrEqual(rowsMin), SLOW);
      await pause(NOTED_MS);
    });
    // Rooms of earlier tests may still send batches to each other.
    const mine = calls.mock.calls.filter(([given]) =>
      given.some((batch) => [from, to].some((room) => batch.from === room || batch.to === room)),
    );
    for (const [given] of mine) for (const { posts } of given) batches.add(`${posts.after}-${posts.upTo}`);
    const counted = { rows, alarms, batches: batches.size, calls: mine.length };
    calls.mockRestore();
    return counted;
  }

  it("RLY-10: one message costs two rows on each side at most, and a hundred hardly more", async () => {
    const [from, to] = [freshRoom(), freshRoom()];
    await link(from, to);
    // Begins the segments, and a quiet second ends.
    await cost(from, to, ["first"]);
    await Promise.all([isArmed(from), isArmed(to)]);
    await pause(1200);
    const single = await cost(from, to, ["second"], 2 + 2);
    expect(single).toEqual({ rows: 2 + 2, alarms: 0, batches: 1, calls: 1 });
    await pause(1200);
    const beganMs = Date.now();
    const burst = await cost(
      from,
      to,
      Array.from({ length: 100 }, (_, i) => `${i}`),
    );
    // A window takes a second: a slow machine spreads the posts over more of them.
    const windows = (Date.now() - beganMs) / 1000;
    expect(burst.batches).toBeLessThanOrEqual(4 + windows);
    expect(burst.rows).toBeLessThan(40 + 10 * windows);
  });

  it("RLY-10: a room without links pays nothing", async () => {
    const room = freshRoom();
    await post(room, "first");
    await isArmed(room);
    expect(await rowsWrittenByAll(room, () => post(room, "second"))).toEqual({ rows: 1, alarms: 0 });
  });
});
