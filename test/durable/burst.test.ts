// A burst of input, as it comes when a room is busiest: it is gathered by count and by time.
import { runInDurableObject } from "cloudflare:test";
import { expect, it, vi } from "vitest";

import { BATCH_POSTS_MAX } from "../../src/chat/posting/posts.ts";
import { freshRoom, join, stubOf, useSettings } from "./rooms.ts";

const FLUSH_WINDOW_MS = 50;
const POSTS = 800;
useSettings({ FLUSH_WINDOW_MS: String(FLUSH_WINDOW_MS), MESSAGE_RATE: "10000", MESSAGE_BURST: "10000" });

interface Row extends Record<string, SqlStorageValue> {
  first_seq: number;
  last_seq: number;
}

const rowsIn = (room: string): Promise<Row[]> =>
  runInDurableObject(stubOf(room), (_instance, { storage: { sql } }) =>
    sql.exec<Row>("SELECT first_seq, last_seq FROM batches_1 ORDER BY first_seq").toArray(),
  );

it(`${POSTS} posts at once are all stored, in as few rows as batch size and window allow`, async () => {
  const room = freshRoom();
  const ada = await join(room, "ada");
  const startMs = Date.now();
  for (let i = 0; i < POSTS; i++) ada.send(`42["chat-message",{"content":"text ${i}"}]`);
  const rows = await vi.waitFor(async () => {
    const stored = await rowsIn(room);
    expect(stored.at(-1)).toMatchObject({ last_seq: POSTS });
    return stored;
  });
  const windows = (Date.now() - startMs) / FLUSH_WINDOW_MS;
  expect(rows.length).toBeLessThanOrEqual(POSTS / BATCH_POSTS_MAX + windows + 2);
  for (const { first_seq, last_seq } of rows) expect(last_seq - first_seq).toBeLessThan(BATCH_POSTS_MAX);
});
