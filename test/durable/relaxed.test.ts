// CHAT-7 in a real object: messages are seen at once and stored within a second, and a crash loses only those in between.
import { runInDurableObject } from "cloudflare:test";
import { expect, it, vi } from "vitest";

import { UNSTORED_MS_MAX } from "../../src/chat/posting/commit.ts";
import type { HistoryAnswer, Message, PostAnswer, Welcome } from "../../src/protocol/chat-events.ts";
import type { RawClient } from "./raw-client.ts";
import { freshRoom, join, stubOf, useSettings } from "./rooms.ts";

useSettings({ DURABILITY: "relaxed", MESSAGE_RATE: "10000", MESSAGE_BURST: "10000" });

type Posted = Extract<PostAnswer, { ok: true }>;
type Page = Extract<HistoryAnswer, { ok: true }>;
const seqsOf = (client: RawClient): number[] => client.received<Message>("chat-message").map(({ seq }) => seq);
const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1);

/** Posts after each ack until the room shows messages before it stores them. @returns the answers */
async function makeBusy(client: RawClient): Promise<Posted[]> {
  const answers: Posted[] = [];
  for (let i = 1; i <= 3; i++) answers.push(await client.ask<Posted>("chat-message", { content: `${i}` }));
  return answers;
}

const rowsIn = (room: string): Promise<number> =>
  runInDurableObject(
    stubOf(room),
    (_instance, { storage: { sql } }) => sql.exec("SELECT 1 FROM batches_1").toArray().length,
  );

it("shows a busy room's messages before they are stored, stores many in a row, and acks them afterwards", async () => {
  const room = freshRoom();
  const [ada, ben] = [await join(room, "ada"), await join(room, "ben")];
  await makeBusy(ada);
  const sinceMs = Date.now();
  // It stores once a second what it has shown, and a slow machine takes some seconds.
  const seconds = (): number => (Date.now() - sinceMs) / 1000;
  const posts = upTo(100).map((i) => ada.ask<Posted>("chat-message", { content: `${i}` }));
  await ben.receives("chat-message", 103);
  expect(await rowsIn(room)).toBeLessThan(8 + seconds());
  const answers = await Promise.all(posts);
  expect(answers.map(({ seq }) => seq)).toEqual(upTo(103).slice(3));
  expect(seqsOf(ben)).toEqual(upTo(103));
  const { messages } = await ben.ask<Page>("history", { limit: 200 });
  expect(messages).toEqual(ben.received("chat-message"));
  expect(await rowsIn(room)).toBeLessThan(10 + seconds());
});

/** A room that died with messages which it had shown and not stored. If that took a slow machine too long, another room does. */
async function dead(): Promise<{ room: string; acked: readonly Posted[] }> {
  for (;;) {
    const room = freshRoom();
    const [ada, ben] = [await join(room, "ada"), await join(room, "ben")];
    const sinceMs = performance.now();
    const acked = await makeBusy(ada);
    let answered = 0;
    for (const text of ["lost 1", "lost 2", "lost 3"])
      void ada.ask<Posted>("chat-message", { content: text, clientMsgId: text }).then(
        () => answered++,
        () => undefined,
      );
    const seen = (await ben.receives<Message>("chat-message", 6)).slice(0, 6);
    expect(seen.map(({ seq }) => seq)).toEqual(upTo(6));
    const died = runInDurableObject(stubOf(room), (_instance, state) => state.abort("died in a test"));
    await expect(died).rejects.toThrow("died in a test");
    await ben.closes();
    if (performance.now() - sinceMs >= UNSTORED_MS_MAX) continue;
    expect(answered).toBe(0);
    return { room, acked };
  }
}

it("a crash loses only unacked messages, and no other message gets their seq", async () => {
  const { room, acked } = await dead();
  const back = await join(room, "ada");
  const [{ lastSeq }] = back.received<Welcome>("welcome") as [Welcome];
  expect(lastSeq).toBeGreaterThanOrEqual(6);
  const { messages } = await back.ask<Page>("history", {});
  expect(messages.map(({ id }) => id)).toEqual(acked.map(({ id }) => id));
  const again = await back.ask<Posted>("chat-message", { content: "lost 1", clientMsgId: "lost 1" });
  expect(again.seq).toBe(lastSeq + 1);
  expect(again.duplicate).toBeUndefined();
});

it("a room that became quiet skips no seq, also after a crash", async () => {
  const room = freshRoom();
  const ada = await join(room, "ada");
  await makeBusy(ada);
  await Promise.all(upTo(5).map((i) => ada.ask("chat-message", { content: `${i}` })));
  await vi.waitFor(async () => {
    const reserved = await runInDurableObject(
      stubOf(room),
      (_instance, { storage: { sql } }) => sql.exec<{ seq: number }>("SELECT seq FROM reserved_seq").one().seq,
    );
    expect(reserved).toBe(8);
  });
  const died = runInDurableObject(stubOf(room), (_instance, state) => state.abort("died in a test"));
  await expect(died).rejects.toThrow("died in a test");
  const back = await join(room, "ada");
  expect(back.received("welcome")).toMatchObject([{ lastSeq: 8 }]);
});
