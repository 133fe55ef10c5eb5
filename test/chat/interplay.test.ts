// Effects of one feature on another: files, search, webhooks and retention in one room.
import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";

import type { SearchAnswer } from "../../src/protocol/chat-events.ts";
import { UNLIMITED } from "../host/chat-room.ts";
import { EPOCH } from "../host/memory-log.ts";
import { FileRoom } from "../host/file-room.ts";
import { MemoryFiles } from "../host/memory-files.ts";
import { FakeQueue } from "../host/webhook-room.ts";

/** A room whose older messages are indexed with the first search, and that has a webhook. */
function roomWithAll(): { room: FileRoom; queue: FakeQueue; pass: (ms: number) => Promise<void> } {
  const queue = new FakeQueue();
  const room = new FileRoom(
    new MemoryFiles(),
    { messageRate: UNLIMITED, flushWindowMs: 0 },
    { deliver: queue.deliver },
  );
  room.index.shape = {
    ...room.index.shape,
    blockMessages: 2,
    partMessages: 4,
    unindexedMessages: 4,
    gapMessagesMin: 2,
  };
  /** With every deadline in its turn, and its effects. */
  const pass = async (ms: number): Promise<void> => {
    const endMs = room.shell.nowMs + ms;
    while (room.shell.nowMs < endMs) {
      room.shell.advance(Math.max(0, Math.min(room.shell.quietMs, endMs - room.shell.nowMs)));
      await setImmediate();
    }
    await room.pass(0);
  };
  return { room, queue, pass };
}

async function search(room: FileRoom, query: string): Promise<number[]> {
  const asked = room.call("search", "reader", { query }, "reader");
  await room.pass(50);
  return (asked.answer as Extract<SearchAnswer, { ok: true }>).messages.map(({ seq }) => seq);
}

/** The first of twelve messages carries a file. */
async function roomWithOldFile() {
  const parts = roomWithAll();
  const { room, pass } = parts;
  const attachment = await room.upload("ada");
  await room.ask("chat-message", "ada", { content: "secret words", attachment });
  for (let i = 2; i <= 12; i++) await room.ask("chat-message", "ada", { content: `number ${i}` });
  await pass(1500);
  return { ...parts, attachment };
}

const FIRST = { id: `${EPOCH}-1` };

describe("a message with a file, indexed, in a room with a webhook", () => {
  it("that is deleted is gone from storage, index and search, and its webhook event is `message.deleted`: FILE-5, SRCH-7, HOOK-1", async () => {
    const { room, queue, pass } = await roomWithOldFile();
    expect(await search(room, "secret ")).toEqual([1]);
    expect(room.index.terms).toContain("secret");
    await room.ask("delete-message", { user: "mod", role: "moderator" }, FIRST);
    expect(room.index.terms).not.toContain("secret");
    await pass(1500);
    expect(room.files.keys.size).toBe(0);
    expect(await search(room, "secret ")).toEqual([]);
    expect(queue.story.at(-1)).toBe("deleted 1 by mod");
    expect(JSON.stringify(queue.of("message.deleted"))).not.toMatch(/secret|me\.png/);
  });

  it("that is deleted before its webhook went out: the webhook has no text of it", async () => {
    const { room, queue, pass } = roomWithAll();
    queue.mood = "refuses";
    const attachment = await room.upload("ada");
    await room.ask("chat-message", "ada", { content: "secret words", attachment });
    await pass(100);
    await room.ask("delete-message", "ada", FIRST);
    queue.mood = "takes";
    await pass(60_000);
    expect(queue.story).toContain("deleted 1 by ada");
    expect(JSON.stringify(queue.batches)).not.toMatch(/secret|me\.png/);
    expect(room.files.keys.size).toBe(0);
  });

  it("that is edited to no words keeps its file, is found by no search, and its webhook event is `message.edited`: FILE-2, SRCH-6", async () => {
    const { room, queue, pass, attachment } = await roomWithOldFile();
    expect(await search(room, "secret ")).toEqual([1]);
    expect(await room.ask("edit-message", "ada", { ...FIRST, content: "" })).toMatchObject({ ok: true });
    await pass(1500);
    expect(await search(room, "secret ")).toEqual([]);
    expect(room.index.terms).not.toContain("secret");
    expect(room.files.keys).toEqual(new Set([attachment.key]));
    expect(queue.of("message.edited").at(-1)!.data.message).toMatchObject({ seq: 1, content: "", attachment });
    expect(await room.ask("get-message", "ben", FIRST)).toMatchObject({ message: { content: "", attachment } });
  });
});

describe("trimmed messages, in a room with a webhook: CHAT-8", () => {
  it("make no webhook of deletion; the others make theirs as before", async () => {
    const { room, queue, pass } = roomWithAll();
    for (const content of ["1", "2", "3"]) await room.ask("chat-message", "ada", { content });
    await pass(1500);
    room.log.retention = { messages: 2, ageMs: Infinity };
    for (const content of ["4", "5"]) await room.ask("chat-message", "ada", { content });
    await pass(1500);
    expect(room.log.messages.map(({ seq }) => seq)).toEqual([4, 5]);
    expect(queue.story).toEqual(["posted 1 1", "posted 2 2", "posted 3 3", "posted 4 4", "posted 5 5"]);
  });

  it("while the queue was away make no webhook, and delay none: posts, edits and deletions", async () => {
    const { room, queue, pass } = roomWithAll();
    for (const content of ["1", "2", "3"]) await room.ask("chat-message", "ada", { content });
    await pass(1500);
    queue.mood = "refuses";
    await room.ask("edit-message", "ada", { id: `${EPOCH}-2`, content: "edited" });
    await room.ask("delete-message", "ada", { id: `${EPOCH}-3` });
    for (const content of ["4", "5", "6", "7"]) await room.ask("chat-message", "ada", { content });
    await room.ask("edit-message", "ada", { id: `${EPOCH}-6`, content: "six" });
    await pass(1500);
    room.log.retention = { messages: 2, ageMs: Infinity };
    await room.ask("chat-message", "ada", { content: "8" });
    await pass(1500);
    expect(room.log.messages.map(({ seq }) => seq)).toEqual([7, 8]);
    queue.batches.length = 0;
    queue.mood = "takes";
    await pass(3_700_000);
    expect(queue.story).toEqual(["posted 7 7", "posted 8 8"]);
    await room.ask("edit-message", "ada", { id: `${EPOCH}-8`, content: "eight" });
    await pass(1500);
    expect(queue.story.at(-1)).toBe("edited 8 eight");
  });
});
