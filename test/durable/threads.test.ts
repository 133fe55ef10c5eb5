// Threads in a real object: through sleep, and the rows that they write.
import { describe, expect, it, vi } from "vitest";

import type { RawClient } from "./raw-client.ts";
import { freshRoom, isAtRest, join, Sleeper } from "./rooms.ts";
import { holdAlarms, rowsWritten } from "./rows-written.ts";

const post = async (client: RawClient, content: string, replyTo?: string): Promise<string> =>
  (await client.ask<{ id: string }>("chat-message", { content, ...(replyTo !== undefined && { replyTo }) })).id;

describe("THR-3, THR-5: a thread", () => {
  it("is there after sleep, with what its reader has seen", async () => {
    const room = freshRoom();
    const [ada, ben] = [await join(room, "ada"), await join(room, "ben")];
    const id = await post(ada, "first");
    const reply = await post(ben, "one", id);
    await post(ben, "two", reply);
    expect(await ada.ask("threads", {})).toMatchObject({ threads: [{ id, replies: 2, unread: 2 }], unread: 1 });
    expect(await ada.ask("read-thread", { id, seq: 2 })).toEqual({ ok: true });
    await new Sleeper(room).sleep();
    const again = await join(room, "ada");
    expect(await again.ask("threads", {})).toMatchObject({ threads: [{ id, unread: 1, seenSeq: 2 }] });
    expect(await again.ask("thread", { id })).toMatchObject({
      messages: [{ content: "one" }, { content: "two", thread: id }],
      hasMore: false,
    });
  });

  it("costs a reply no further row, a question none, and a mark one", async () => {
    const room = freshRoom();
    const [ada, ben] = [await join(room, "ada"), await join(room, "ben")];
    const id = await post(ada, "first");
    const reply = await post(ben, "reply", id);
    await isAtRest(room);
    holdAlarms();
    expect(await rowsWritten(room, () => post(ben, "nested", reply))).toEqual({ rows: 1, alarms: 0 });
    expect(await rowsWritten(room, () => ada.ask("threads", {}))).toEqual({ rows: 0, alarms: 0 });
    expect(await rowsWritten(room, () => ada.ask("read-thread", { id, seq: 3 }))).toEqual({ rows: 1, alarms: 0 });
    expect(await rowsWritten(room, () => ada.ask("read-thread", { id, seq: 3 }))).toEqual({ rows: 0, alarms: 0 });
    vi.restoreAllMocks();
  });
});
