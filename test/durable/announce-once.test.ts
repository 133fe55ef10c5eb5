// A room stores an announced message once, however late it is delivered again (ANN-3).
import { createMessageBatch, evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { Announcements } from "../../src/features/announcements/object.ts";
import type { ChatRoom } from "../../durable/chat-room.ts";
import { ANNOUNCE_ROOMS } from "./announce-taking.ts";
import type { AnnounceRpc } from "../../src/rpc/announcements.ts";
import worker from "../../src/index.ts";
import { LOOK_MESSAGES_PER_TURN } from "../../src/features/announcements/announced.ts";
import { ANNOUNCE_VERSION, POSTED_EVENT, type AnnouncePart } from "../../src/protocol/announcement.ts";
import type { Message } from "../../src/protocol/chat-events.ts";
import { RELAY_TRIES_MAX } from "../../src/relay/tries.ts";
import { callApi, deadLettersTo } from "./api-caller.ts";
import { TestClock } from "../kit/testing.ts";
import { fill } from "./recovery-story.ts";
import { freshRoom, Sleeper, stubOf, useSettings, withSettings } from "./rooms.ts";

useSettings({ API_RATE: "10000", API_BURST: "10000", MESSAGE_RATE: "10000", MESSAGE_BURST: "10000" });

const HOUR_MS = 3_600_000;
let clock: TestClock;
beforeEach(() => {
  clock = new TestClock();
  for (const level of ["warn", "error"] as const) vi.spyOn(console, level).mockImplementation(() => {});
});
afterEach(() => {
  clock.stop();
  vi.restoreAllMocks();
});

let ids = 0;
const partTo = (room: string, more: Partial<AnnouncePart["announce"]> = {}): AnnouncePart => ({
  announce: {
    v: ANNOUNCE_VERSION,
    id: `once-${++ids}`,
    event: POSTED_EVENT,
    data: { content: "We close at six" },
    at: Date.now(),
    by: { user: "backend", name: "backend" },
    ...more,
  },
  part: 0,
  tries: 0,
  to: [{ room, number: 0 }],
});

/** The queue, whose time passes at once: brings a part as often as it comes again. @returns how often */
async function bring(part: AnnouncePart): Promise<number> {
  let delaySeconds: number | undefined;
  for (let attempts = 1; ; attempts++) {
    delaySeconds = undefined;
    const batch = createMessageBatch("parley-relay", [{ id: "m1", timestamp: new Date(), attempts, body: part }]);
    const retry = (options?: QueueRetryOptions): void => void (delaySeconds = options?.delaySeconds ?? 0);
    const messages = batch.messages.map(({ id, timestamp, body }) => ({
      id,
      timestamp,
      attempts,
      body,
      ack() {},
      retry,
    }));
    await worker.queue({ ...batch, queue: "parley-relay", messages }, env);
    if (delaySeconds === undefined || attempts === RELAY_TRIES_MAX) return attempts;
    await clock.advance(delaySeconds * 1000);
  }
}

const storedIn = async (room: string): Promise<Message[]> =>
  (await callApi("GET", `/api/rooms/${room}/messages?limit=200`)).body.messages;
const post = (room: string, content: string): Promise<unknown> =>
  callApi("POST", `/api/rooms/${room}/messages`, { body: { content } });

/** So many messages of ada's, without a call each. */
const say = (room: string, count: number): Promise<unknown> =>
  runInDurableObject(stubOf(room), (instance: ChatRoom) =>
    Promise.all(
      Array.from({ length: count }, (_, i) =>
        instance.ask("chat-message", { user: "ada", name: "Ada", role: "member" }, { content: `${i}` }),
      ),
    ),
  );

it("is stored once, though its progress could not be noted for nine hours", async () => {
  const room = freshRoom();
  await post(room, "before");
  vi.spyOn(Announcements.prototype, "note").mockRejectedValue(new Error("out of order"));
  expect(await bring(partTo(room))).toBe(RELAY_TRIES_MAX);
  expect(clock.aheadMs).toBeGreaterThan(8 * HOUR_MS);
  expect((await storedIn(room)).map(({ content }) => content)).toEqual(["before", "We close at six"]);
});

it("is stored once, though all answers of the room were lost and its dead letter is replayed", async () => {
  const room = freshRoom();
  const original = Reflect.get(ANNOUNCE_ROOMS, "takeAnnounced");
  vi.spyOn(ANNOUNCE_ROOMS, "takeAnnounced").mockImplementation(async function (this: AnnounceRpc, announcements) {
    await original.call(this, announcements);
    return announcements.map(() => ({ ok: false, isFinal: false, reason: "the room could not be reached" }));
  });
  const part = partTo(room);
  await bring({ ...part, tries: RELAY_TRIES_MAX - 1 });
  vi.spyOn(ANNOUNCE_ROOMS, "takeAnnounced").mockImplementation(original);
  await evictDurableObject(stubOf(room));
  await clock.advance(23 * HOUR_MS);
  const letter = (await deadLettersTo(room))[0]!;
  const { body } = await callApi("POST", "/api/relay/dead/replay", { body: { ids: [letter.id] } });
  expect(body).toEqual({ ok: true, replayed: [letter.id], failed: [] });
  expect(await storedIn(room)).toMatchObject([{ content: "We close at six" }]);
});

it("is stored where it was not before, behind any number of messages", async () => {
  const room = freshRoom();
  const part = partTo(room);
  await fill({ room, sleeper: new Sleeper(room) }, LOOK_MESSAGES_PER_TURN + 10);
  await clock.advance(HOUR_MS);
  for (let i = 0; i < 2; i++) {
    expect(await bring(part)).toBe(1);
    await clock.advance(HOUR_MS);
  }
  const messages = await storedIn(room);
  expect(messages.filter(({ content }) => content === "We close at six")).toHaveLength(1);
  expect(messages.at(-1)).toMatchObject({ seq: LOOK_MESSAGES_PER_TURN + 11 });
});

it("is recognized by its sender, also where it was deleted since", async () => {
  const room = freshRoom();
  const part = partTo(room);
  await callApi("POST", `/api/rooms/${room}/messages`, {
    body: { content: "another's, by chance", clientMsgId: part.announce.id, as: "ada" },
  });
  await bring(part);
  const [, posted] = await storedIn(room);
  await callApi("DELETE", `/api/rooms/${room}/messages/${posted!.id}`);
  await clock.advance(12 * HOUR_MS);
  await bring(part);
  expect(await storedIn(room)).toMatchObject([{ sender: "ada" }, { sender: "backend", deleted: true }]);
});

it("is a dead letter where the room has forgotten messages since then", async () => {
  const room = freshRoom();
  await withSettings({ HISTORY_MESSAGES: "100" }, async () => {
    const part = partTo(room);
    await bring(part);
    await say(room, 200);
    await clock.advance(HOUR_MS);
    await bring(part);
    expect(await deadLettersTo(room)).toMatchObject([
      { announcement: part.announce.id, reason: expect.stringContaining("has forgotten whether it has it") },
    ]);
    expect((await storedIn(room)).every(({ content }) => content !== "We close at six")).toBe(true);
  });
});
