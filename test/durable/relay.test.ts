// Rooms that mirror each other over a real queue: objects that sleep, abort in the middle of a batch or lose their answer. All other
// failures, and the costs, are those of test/features/relay.
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import type { Message } from "../../src/protocol/chat-events.ts";
import { callApi } from "./api-caller.ts";
import { whenTaking } from "./relay-taking.ts";
import { freshRoom, join, Sleeper, useSettings } from "./rooms.ts";

useSettings({ MESSAGE_RATE: "10000", MESSAGE_BURST: "10000", API_RATE: "10000", API_BURST: "10000" });

const SLOW = { interval: 50 };
/** The other room has it before this one can note that. */
const NOTED_MS = 300;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const MESSAGES = 6;
/** Longer than the window in which a link gathers messages, now and then. */
const BETWEEN_POSTS_MS = 300;

const link = async (from: string, to: string): Promise<void> => {
  const { status, body } = await callApi("POST", `/api/rooms/${from}/links`, { body: { to } });
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

/** Two of each: their batches travel together. */
const PAIRS_OF_EACH = 2;

it("RLY-3, RLY-4: a room that dies in mid-batch, or whose answer is lost, gets each message once and in order", async () => {
  const throwIt = (): never => {
    throw new Error("the line broke");
  };
  const abort = (state: DurableObjectState): void => state.abort("in mid-batch");
  const spoilers = [
    [throwIt, throwIt],
    [abort, abort],
    [abort, throwIt],
  ].flatMap((how) => Array.from({ length: PAIRS_OF_EACH }, () => how));
  const pairs = spoilers.map((how) => ({ from: freshRoom(), to: freshRoom(), how }));
  for (const { from, to } of pairs) await link(from, to);
  const asked = new Map<string, number>();
  whenTaking(async ([batch], proceed, state) => {
    const { to } = batch!;
    const times = asked.get(to) ?? 0;
    asked.set(to, times + 1);
    const outcomes = await proceed();
    pairs.find((pair) => pair.to === to)?.how[times]?.(state);
    return outcomes;
  });
  const contents = Array.from({ length: MESSAGES }, (_, i) => `${i + 1}`);
  for (const content of contents) {
    await Promise.all(pairs.map(({ from }) => post(from, content)));
    await pause(BETWEEN_POSTS_MS);
  }
  for (const { to } of pairs) await arrive(to, contents);
  // Every spoiled batch has come again by then.
  await vi.waitFor(() => {
    for (const { to, how } of pairs) expect(asked.get(to)).toBeGreaterThan(how.length);
  }, SLOW);
  // A room that has just been aborted answers 503 for a moment.
  for (const { to } of pairs) await arrive(to, contents);
});
