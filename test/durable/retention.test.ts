// Retention, and a log with a damaged row, as members notice them.
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { afterEach, expect, it, vi } from "vitest";

import { CONFIRM_MS } from "../../src/chat/posting/retention-clock.ts";
import type { HistoryAnswer, Message } from "../../src/protocol/chat-events.ts";
import type { RawClient } from "./raw-client.ts";
import { ring, TestClock } from "../kit/testing.ts";
import { alarmOf, freshRoom, join, Sleeper, stubOf, useSettings } from "./rooms.ts";

const HISTORY_DAYS = 2;
const HISTORY_MESSAGES = 100;
const DAY_MS = 24 * 3_600_000;
useSettings({
  HISTORY_DAYS: String(HISTORY_DAYS),
  HISTORY_MESSAGES: String(HISTORY_MESSAGES),
  MESSAGE_RATE: "10000",
  MESSAGE_BURST: "10000",
});

afterEach(() => vi.restoreAllMocks());

async function say(client: RawClient, count: number): Promise<void> {
  await Promise.all(Array.from({ length: count }, (_, i) => client.ask("chat-message", { content: `${i}` })));
}

type Page = Extract<HistoryAnswer, { ok: true }>;
const newest = (client: RawClient): Promise<Page> => client.ask<Page>("history", { limit: 200 });
it("keeps HISTORY_MESSAGES, and about a tenth more: CHAT-8", async () => {
  const ada = await join(freshRoom(), "ada");
  for (let round = 0; round < 18; round++) await say(ada, 10);
  const { messages, hasMore } = await newest(ada);
  expect(hasMore).toBe(false);
  expect(messages.length).toBeGreaterThanOrEqual(HISTORY_MESSAGES);
  expect(messages.length).toBeLessThanOrEqual(HISTORY_MESSAGES * 1.1 + 10);
  expect(messages.at(-1)).toMatchObject({ seq: 180 });
});

const storedIn = (room: string): Promise<number> =>
  runInDurableObject(
    stubOf(room),
    (_instance, { storage: { sql } }) =>
      sql
        .exec<{ count: number }>("SELECT SUM(last_seq + 1 - first_seq) AS count FROM batches_1 WHERE first_seq > 0")
        .one().count,
  );

it("an empty room drops messages older than HISTORY_DAYS, by one alarm and another an hour later: CHAT-8", async () => {
  const room = freshRoom();
  const ada = await join(room, "ada");
  await say(ada, 3);
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
  expect(await newest(back)).toMatchObject({ messages: [], hasMore: false });
  expect(await back.ask("chat-message", { content: "again" })).toMatchObject({ ok: true, seq: 4 });
});

it("a request that needs an unreadable row gets INTERNAL; the room goes on", async () => {
  const room = freshRoom();
  const ada = await join(room, "ada");
  for (let i = 1; i <= 4; i++) await ada.ask("chat-message", { content: `${i}`, clientMsgId: `c${i}` });
  await runInDurableObject(stubOf(room), (_instance, { storage: { sql } }) => {
    sql.exec("UPDATE batches_1 SET body = '[9,\"from the future\"]' WHERE first_seq = 3");
  });
  await evictDurableObject(stubOf(room), { webSockets: "hibernate" });
  const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
  expect(await ada.ask("history", {})).toMatchObject({ error: { code: "INTERNAL" } });
  expect(await ada.ask("history", { limit: 1 })).toMatchObject({ messages: [{ seq: 4 }] });
  expect(await ada.ask("chat-message", { content: "5", clientMsgId: "c5" })).toMatchObject({ ok: true, seq: 5 });
  expect(await ada.ask("chat-message", { content: "4", clientMsgId: "c4" })).toMatchObject({ seq: 4, duplicate: true });
  expect(log.mock.calls.flat().join(" "), "what the operator reads").toMatch(/seq 3 is of version 9/);
  expect(ada.received<Message>("chat-message").map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]);
  expect(ada.closed).toBeUndefined();
});
