// Alarms of a real object that come too early, twice or late, a clock that jumps under it, and the alarm of the retention.
import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { afterEach, expect, it, vi } from "vitest";

import { CONFIRM_MS } from "../../src/chat/posting/retention-clock.ts";
import type { Message } from "../../src/protocol/chat-events.ts";
import { ring, TestClock } from "../kit/testing.ts";
import { alarmOf, freshRoom, join, Sleeper, stubOf, withSettings } from "./rooms.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const HISTORY_DAYS = 2;

afterEach(() => vi.restoreAllMocks());

it("an early alarm, and a doubled one, only set the next alarm", async () => {
  const room = freshRoom();
  const ada = await join(room, "ada");
  const sleeper = new Sleeper(room);
  await sleeper.sleep();
  await vi.waitFor(async () => expect(await alarmOf(room)).not.toBeNull());
  const dueMs = await alarmOf(room);
  const heard = ada.packets.length;
  expect(await runDurableObjectAlarm(stubOf(room))).toBe(true);
  // After a sleep the times of pings are known to the second only.
  await vi.waitFor(async () => expect(Math.abs((await alarmOf(room))! - dueMs!)).toBeLessThan(1000));
  await sleeper.sleep();
  await runDurableObjectAlarm(stubOf(room));
  await runDurableObjectAlarm(stubOf(room));
  await vi.waitFor(async () => expect(await alarmOf(room)).not.toBeNull());
  expect(ada.closed).toBeUndefined();
  expect(ada.packets).toHaveLength(heard);
  expect(await ada.ask("chat-message", { content: "still here" })).toMatchObject({ ok: true, seq: 1 });
});

it.each([
  ["back by an hour", -HOUR_MS],
  ["ahead by 20 s", 20_000],
])("a clock that is put %s: everybody stays, and messages keep their order and their places", async (_what, jumpMs) => {
  const room = freshRoom();
  const [ada, ben] = [await join(room, "ada"), await join(room, "ben", { query: { ext: "1" } })];
  const say = (content: string) => ada.ask("chat-message", { content, clientMsgId: content });
  expect(await say("one")).toMatchObject({ seq: 1 });
  const now = Date.now.bind(Date);
  vi.spyOn(Date, "now").mockImplementation(() => now() + jumpMs);
  expect(await say("two")).toMatchObject({ seq: 2 });
  expect(await say("two")).toMatchObject({ seq: 2, duplicate: true });
  await runDurableObjectAlarm(stubOf(room));
  await new Sleeper(room).sleep();
  expect(await say("two")).toMatchObject({ seq: 2, duplicate: true });
  expect(await say("three")).toMatchObject({ seq: 3 });
  await ben.receives("chat-message", 3);
  expect(ben.received<Message>("chat-message").map(({ content }) => content)).toEqual(["one", "two", "three"]);
  expect([ada.closed, ben.closed]).toEqual([undefined, undefined]);
});

const storedIn = (room: string): Promise<number> =>
  runInDurableObject(
    stubOf(room),
    (_instance, { storage: { sql } }) =>
      sql
        .exec<{ count: number }>("SELECT SUM(last_seq + 1 - first_seq) AS count FROM batches_1 WHERE first_seq > 0")
        .one().count,
  );

it("an empty room drops messages older than HISTORY_DAYS, by one alarm and another an hour later: CHAT-8", () =>
  withSettings({ HISTORY_DAYS: String(HISTORY_DAYS) }, async () => {
    const room = freshRoom();
    const ada = await join(room, "ada");
    await Promise.all(["1", "2", "3"].map((content) => ada.ask("chat-message", { content })));
    ada.close();
    await ada.closes();
    const postedMs = Date.now();
    const dueMs = await vi.waitFor(async () => {
      const alarmMs = await alarmOf(room);
      expect(alarmMs).toBeGreaterThan(postedMs + HISTORY_DAYS * DAY_MS - 60_000);
      return alarmMs!;
    });
    expect(dueMs).toBeLessThanOrEqual(postedMs + HISTORY_DAYS * 1.1 * DAY_MS);
    await new Sleeper(room).sleep();
    const clock = new TestClock();
    await clock.advance(dueMs - postedMs + 1000);
    expect(await ring(stubOf(room))).toBe(true);
    expect(await storedIn(room)).toBe(3);
    await new Sleeper(room).sleep();
    await clock.advance(CONFIRM_MS + 1000);
    expect(await ring(stubOf(room))).toBe(true);
    clock.stop();
    const back = await join(room, "ada");
    expect(back.received("welcome")).toMatchObject([{ lastSeq: 3 }]);
    expect(await back.ask("history", { limit: 200 })).toMatchObject({ messages: [], hasMore: false });
    expect(await back.ask("chat-message", { content: "again" })).toMatchObject({ ok: true, seq: 4 });
  }));
