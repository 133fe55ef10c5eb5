// Effects of one feature on another: files, webhooks and retention in one room.
import { describe, expect, it } from "vitest";

import { UNLIMITED } from "../host/chat-room.ts";
import { EPOCH } from "../host/memory-log.ts";
import { FileRoom } from "../host/file-room.ts";
import { MemoryFiles } from "../host/memory-files.ts";
import { FakeQueue } from "../host/webhook-room.ts";

/** A room with files and a webhook. */
function roomWithWebhook(): { room: FileRoom; queue: FakeQueue } {
  const queue = new FakeQueue();
  const settings = { messageRate: UNLIMITED, flushWindowMs: 0 };
  const room = new FileRoom(new MemoryFiles(), settings, { deliver: queue.deliver });
  return { room, queue };
}

describe("a message with a file, in a room with a webhook", () => {
  it("that is deleted before its webhook went out: the webhook has no text of it", async () => {
    const { room, queue } = roomWithWebhook();
    queue.mood = "refuses";
    const attachment = await room.upload("ada");
    await room.ask("chat-message", "ada", { content: "secret words", attachment });
    await room.pass(100);
    await room.ask("delete-message", "ada", { id: `${EPOCH}-1` });
    queue.mood = "takes";
    await room.pass(60_000);
    expect(queue.story).toContain("deleted 1 by ada");
    expect(JSON.stringify(queue.batches)).not.toMatch(/secret|me\.png/);
    expect(room.files.keys.size).toBe(0);
  });
});

describe("trimmed messages, in a room with a webhook: CHAT-8", () => {
  it("make no webhook of deletion; the others make theirs as before", async () => {
    const { room, queue } = roomWithWebhook();
    for (const content of ["1", "2", "3"]) await room.ask("chat-message", "ada", { content });
    await room.pass(1500);
    room.log.retention = { messages: 2, ageMs: Infinity };
    for (const content of ["4", "5"]) await room.ask("chat-message", "ada", { content });
    await room.pass(1500);
    expect(room.log.messages.map(({ seq }) => seq)).toEqual([4, 5]);
    expect(queue.story).toEqual(["posted 1 1", "posted 2 2", "posted 3 3", "posted 4 4", "posted 5 5"]);
  });

  it("while the queue was away make no webhook, and delay none: posts, edits and deletions", async () => {
    const { room, queue } = roomWithWebhook();
    for (const content of ["1", "2", "3"]) await room.ask("chat-message", "ada", { content });
    await room.pass(1500);
    queue.mood = "refuses";
    await room.ask("edit-message", "ada", { id: `${EPOCH}-2`, content: "edited" });
    await room.ask("delete-message", "ada", { id: `${EPOCH}-3` });
    for (const content of ["4", "5", "6", "7"]) await room.ask("chat-message", "ada", { content });
    await room.ask("edit-message", "ada", { id: `${EPOCH}-6`, content: "six" });
    await room.pass(1500);
    room.log.retention = { messages: 2, ageMs: Infinity };
    await room.ask("chat-message", "ada", { content: "8" });
    await room.pass(1500);
    expect(room.log.messages.map(({ seq }) => seq)).toEqual([7, 8]);
    queue.batches.length = 0;
    queue.mood = "takes";
    await room.pass(3_700_000);
    expect(queue.story).toEqual(["posted 7 7", "posted 8 8"]);
    await room.ask("edit-message", "ada", { id: `${EPOCH}-8`, content: "eight" });
    await room.pass(1500);
    expect(queue.story.at(-1)).toBe("edited 8 eight");
  });
});
