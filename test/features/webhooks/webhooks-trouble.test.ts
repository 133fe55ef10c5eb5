// A failing queue of webhooks and failures of the room itself: no event is lost, and no post waits.
import { describe, expect, it } from "vitest";

import { CHANGES_REMEMBERED_MAX } from "../../../src/features/webhooks/pending-changes.ts";
import { RESTART_GRACE_MS } from "../../../src/features/webhooks/presence-feed.ts";
import { WEBHOOK_EVENTS_MAX } from "../../../src/features/webhooks/webhook-batch.ts";
import { roomWithAda, say, withEmptyQueue } from "../../host/webhook-room.ts";

describe("a failing queue", () => {
  it("HOOK-3: is retried at the same moment after sleep and crashes", async () => {
    const { room, ada } = await withEmptyQueue();
    room.queue.mood = "refuses";
    await say(ada, "1");
    await room.pass(20_000);
    const { asked } = room.queue;
    for (const end of [() => room.shell.evict(), () => room.shell.crash()]) {
      end();
      await room.pass(1000);
    }
    expect(room.queue.asked).toBe(asked);
    room.queue.mood = "takes";
    await room.pass(30_000);
    expect(room.queue.story.slice(0, 1)).toEqual(["posted 1 1"]);
  });

  it("HOOK-3: waits ever longer, 300 s at most, also where the room sleeps in between and nobody is there", async () => {
    const { room } = await roomWithAda();
    room.queue.mood = "refuses";
    room.shell.crash();
    await room.pass(RESTART_GRACE_MS + 20_000);
    const waits = (): number[] =>
      room.shell.problems.map(({ problem }) => Number(/next try in (\d+) s/.exec(problem)![1]));
    expect(waits()).toEqual([1, 2, 4, 8, 16]);
    room.shell.evict();
    await room.pass(100_000);
    expect(waits()).toEqual([1, 2, 4, 8, 16, 32, 64]);
    await room.pass(900_000);
    expect(waits().slice(7)).toEqual([128, 256, 300, 300]);
  });

  it("HOOK-4: that may have taken a `member.left`: a member who is back has joined again", async () => {
    const { room } = await withEmptyQueue();
    const ben = await room.join("ben");
    await room.pass(2000);
    room.queue.mood = "takes and says it did not";
    ben.leave();
    await room.pass(6500);
    await room.join("ben");
    room.queue.mood = "takes";
    await room.pass(60_000);
    expect(room.queue.story).toEqual(["joined ben", "left ben", "joined ben"]);
    const [first, , second] = room.queue.events;
    expect(second!.id).not.toBe(first!.id);
    expect(second!.order).toBeGreaterThan(room.queue.of("member.left")[0]!.order);
  });

  it("HOOK-3: does not slow down a post", async () => {
    const { room, ada } = await withEmptyQueue();
    room.queue.mood = "is silent";
    for (const content of ["1", "2", "3"]) {
      await say(ada, content);
      await room.pass(100);
    }
    expect(room.log.lastSeq).toBe(3);
  });
});

describe("failures of the room itself", () => {
  it("HOOK-3: finds more changes than it remembers one by one in the log", async () => {
    const { room } = await withEmptyQueue();
    room.queue.mood = "refuses";
    const count = CHANGES_REMEMBERED_MAX + 50;
    for (let seq = 1; seq <= count; seq++) room.call("chat-message", `poster-${seq % 50}`, { content: "first" });
    await room.pass(2000);
    for (const [i, { id }] of room.log.messages.entries()) {
      room.call("edit-message", `editor-${Math.floor(i / 5)}`, { id, content: "second" });
      if (i % 3 === 0) room.call("react", `liker-${i}`, { id, emoji: "👍", on: true });
    }
    room.queue.mood = "takes";
    await room.pass(10_000);
    const edited = room.queue.of("message.edited").map(({ data }) => data.message);
    expect(new Set(edited.map(({ seq }) => seq)).size).toBe(count);
    expect(edited.every(({ content }) => content === "second")).toBe(true);
    expect(edited.length).toBeLessThan(count * 1.1);
  });

  it.each([CHANGES_REMEMBERED_MAX, CHANGES_REMEMBERED_MAX + 1])(
    "HOOK-3: sends %i changes that were made while the queue did not answer a call about changes of the room's last incarnation",
    async (count) => {
      const { room } = await withEmptyQueue();
      for (let seq = 0; seq <= count; seq++) room.call("chat-message", `poster-${seq % 50}`, { content: "first" });
      await room.pass(60_000);
      room.queue.mood = "refuses";
      const [first, ...others] = room.log.messages;
      room.call("edit-message", "editor", { id: first!.id, content: "second" });
      await room.pass(1500);
      room.shell.crash();
      room.queue.mood = "is silent";
      const { asked } = room.queue;
      while (room.queue.asked === asked) await room.pass(100);
      for (const [i, { id }] of others.entries())
        room.call("edit-message", `editor-${Math.floor(i / 5)}`, { id, content: "second" });
      room.queue.mood = "takes";
      room.queue.answerAtLast();
      await room.pass(1);
      await room.pass(120_000);
      const edited = new Set(room.queue.of("message.edited").map(({ data }) => data.message.id));
      expect(others.filter(({ id }) => !edited.has(id))).toEqual([]);
    },
  );

  it("HOOK-3: sends events again where the mark could not be stored", async () => {
    const { room, ada } = await withEmptyQueue();
    room.state.failure = new Error("disk full");
    await say(ada, "1");
    await room.pass(1500);
    room.state.failure = undefined;
    room.shell.crash();
    await room.pass(1500);
    expect(room.queue.story).toEqual(["posted 1 1", "posted 1 1"]);
    const [first, second] = room.queue.events;
    expect(second).toEqual(first);
  });

  it("HOOK-3: retries where the log cannot be read", async () => {
    const { room, ada } = await withEmptyQueue();
    await say(ada, "1");
    room.log.unreadable = new Error("disk on fire");
    await room.pass(500);
    expect(room.queue.story).toEqual([]);
    room.log.unreadable = undefined;
    await room.pass(2000);
    expect(room.queue.story).toEqual(["posted 1 1"]);
  });

  it("HOOK-5: a deleted room sends its remaining events", async () => {
    const { room, ada } = await withEmptyQueue();
    room.queue.mood = "refuses";
    await say(ada, "1");
    await room.pass(500);
    room.queue.mood = "takes";
    room.chat.calls.prepareShutdown(() => ({ code: "ROOM_DELETED", message: "gone" }));
    ada.leave();
    room.chat.calls.prepareErase();
    expect(room.queue.story).toEqual(["posted 1 1", "left ada", "vacated"]);
    const { writes } = room.state;
    await room.pass(60_000);
    expect(room.state.writes).toBe(writes);
    expect(room.queue.story).toHaveLength(3);
  });
});

it("HOOK-3: sends an edit that a reaction followed, behind more changes than a batch takes", async () => {
  const { room, ada } = await withEmptyQueue();
  const ids: string[] = [];
  for (let i = 0; i < WEBHOOK_EVENTS_MAX + 30; i++) {
    ids.push(await say(ada, `post ${i}`));
    await room.pass(60);
  }
  await room.pass(5000);
  room.queue.mood = "refuses";
  for (const [i, id] of ids.entries()) {
    await room.ask("edit-message", { user: `service-${i}`, role: "service" }, { id, content: `edited ${i}` });
    await room.pass(20);
  }
  await room.ask("react", { user: "ben", role: "service" }, { id: ids[0], emoji: "👍", on: true });
  room.shell.crash();
  room.queue.mood = "takes";
  await room.pass(600_000);
  const edited = new Set(room.queue.of("message.edited").map(({ data }) => data.message.id));
  expect(ids.filter((id) => !edited.has(id))).toEqual([]);
});
