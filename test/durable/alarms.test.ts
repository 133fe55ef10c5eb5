// Alarms of a real object that come too early, twice or late, and a clock that jumps under it.
import { runDurableObjectAlarm } from "cloudflare:test";
import { afterEach, expect, it, vi } from "vitest";

import type { Message } from "../../src/protocol/chat-events.ts";
import { alarmOf, freshRoom, join, Sleeper, stubOf } from "./rooms.ts";

const HOUR_MS = 3_600_000;

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
