// The events that a room hands to the queue of webhooks, and when.
import { describe, expect, it } from "vitest";

import { RESTART_GRACE_MS } from "../../../src/features/webhooks/presence-feed.ts";
import { UnreadableBatch } from "../../../src/chat/log/batch-format.ts";
import { WEBHOOK_BYTES_MAX, WEBHOOK_EVENTS_MAX } from "../../../src/features/webhooks/webhook-batch.ts";
import { ChatRoom, ROOM } from "../../host/chat-room.ts";
import { EPOCH } from "../../host/memory-log.ts";
import { START_MS, type Client } from "../../host/harness.ts";
import { roomWithAda, say, sayAll, withEmptyQueue, WebhookRoom } from "../../host/webhook-room.ts";

describe("a message", () => {
  it("HOOK-1: is sent at once in a quiet room, as clients get it", async () => {
    const { room, ada } = await withEmptyQueue();
    const id = await say(ada, "hello, @ben");
    await room.pass(0);
    const [message] = room.log.messages;
    const at = message!.timestamp;
    expect(room.queue.events).toEqual([
      { id: `${id}.posted`, type: "message.posted", room: ROOM, at, order: at * 4, data: { message } },
    ]);
  });

  it("HOOK-1: its edit and its deletion are sent in order, with their authors", async () => {
    const { room, ada } = await withEmptyQueue();
    const id = await say(ada, "helo");
    await ada.ask("edit-message", { id, content: "hello" });
    await room.pass(1500);
    await ada.ask("edit-message", { id, content: "hello!" });
    await room.pass(1500);
    await room.ask("delete-message", { user: "mod", role: "moderator" }, { id });
    await room.pass(1500);
    expect(room.queue.story).toEqual(["posted 1 hello", "edited 1 hello", "edited 1 hello!", "deleted 1 by mod"]);
    expect(room.queue.of("message.edited")[0]!.data).toMatchObject({ by: "ada", message: { id, content: "hello" } });
    expect(room.queue.of("message.deleted")[0]).toMatchObject({ id: `${id}.deleted`, data: { id, seq: 1, by: "mod" } });
    const orders = room.queue.events.map(({ order }) => order);
    expect(orders).toEqual([...new Set(orders)].sort((a, b) => a - b));
    expect(new Set(room.queue.events.map((event) => event.id)).size).toBe(4);
  });

  it("HOOK-2: several edits within a moment are sent as one, with the last content", async () => {
    const { room, ada } = await withEmptyQueue();
    const id = await say(ada, "1");
    await room.pass(1500);
    room.queue.batches.length = 0;
    for (const content of ["2", "3", "4"]) await ada.ask("edit-message", { id, content });
    await room.pass(1500);
    expect(room.queue.story).toEqual(["edited 1 4"]);
  });

  it("reactions are not sent", async () => {
    const { room, ada } = await withEmptyQueue();
    const id = await say(ada, "hello");
    await room.pass(1500);
    const { writes } = room.state;
    await ada.ask("react", { id, emoji: "👍", on: true });
    await room.pass(1500);
    expect(room.queue.story).toEqual(["posted 1 hello"]);
    expect(room.state.writes).toBe(writes);
  });

  it("HOOK-2: a busy room sends once per second", async () => {
    const { room, ada } = await withEmptyQueue();
    for (let i = 0; i < 30; i++) {
      await say(ada, String(i));
      await room.pass(100);
    }
    await room.pass(1000);
    expect(room.queue.batches.length).toBeLessThanOrEqual(5);
    expect(room.queue.of("message.posted").map(({ data }) => data.message.seq)).toEqual(
      Array.from({ length: 30 }, (_, i) => i + 1),
    );
  });

  it("HOOK-2: a batch has a limit of events and bytes, and the next one follows at once", async () => {
    const { room, ada } = await withEmptyQueue();
    const calls = Array.from({ length: 2 * WEBHOOK_EVENTS_MAX + 10 }, (_, i) =>
      ada.call("chat-message", { content: `${i} ${"é".repeat(600)}` }),
    );
    await room.pass(1500);
    expect(calls.every(({ acks }) => acks.length === 1)).toBe(true);
    const taken = room.queue.of("message.posted").map(({ data }) => data.message.seq);
    expect(taken).toEqual(calls.map((_, i) => i + 1));
    for (const batch of room.queue.batches) {
      expect(batch.length).toBeLessThanOrEqual(WEBHOOK_EVENTS_MAX);
      expect(Buffer.byteLength(JSON.stringify(batch))).toBeLessThanOrEqual(WEBHOOK_BYTES_MAX + 2);
    }
  });

  it("HOOK-2: one that fills a batch alone is sent without its content", async () => {
    const { room } = await roomWithAda({ maxContentLength: 60_000 });
    room.call("chat-message", "ada", { content: "é".repeat(55_000) });
    await room.pass(1000);
    expect(room.queue.of("message.posted")[0]!.data).toMatchObject({
      isClipped: true,
      message: { seq: 1, content: "" },
    });
  });

  it("HOOK-3: in a relaxed room is sent once it is stored", async () => {
    const { room, ada } = await roomWithAda({ durability: "relaxed" });
    for (let i = 0; i < 20; i++) {
      ada.call("chat-message", { content: String(i) });
      await room.pass(70);
    }
    await room.pass(3000);
    expect(room.queue.of("message.posted").map(({ data }) => data.message)).toEqual(room.log.messages);
  });

  it("HOOK-3: an unreadable one holds up none behind it", async () => {
    const { room, ada } = await withEmptyQueue();
    room.queue.mood = "refuses";
    await sayAll(room, ada, ["1", "2", "3"]);
    const read = room.log.ascending.bind(room.log);
    room.log.ascending = function* (after) {
      if (after < 2) throw new UnreadableBatch("the batch at seq 1 is damaged");
      yield* read(after);
    };
    room.queue.mood = "takes";
    await room.pass(10_000);
    expect(room.queue.story).toEqual(["posted 3 3"]);
    expect(room.shell.problems.at(-1)).toMatchObject({
      problem: "unreadable messages are not sent to the webhook",
    });
  });
});

describe("people", () => {
  it("HOOK-4: arrivals and departures of members are sent, and the room as occupied and vacated", async () => {
    const { room, ada } = await roomWithAda();
    const ben = await room.join("ben");
    await room.pass(2000);
    ben.leave();
    await room.pass(8000);
    ada.leave();
    await room.pass(8000);
    expect(room.queue.story).toEqual(["occupied", "joined ada", "joined ben", "left ben", "left ada", "vacated"]);
    const [occupied, joined] = room.queue.events;
    const who = { user: "ada", name: "Ada" };
    expect(occupied).toMatchObject({ id: `${EPOCH}.occupied.${START_MS}`, at: START_MS, data: who });
    expect(joined).toMatchObject({ id: `${EPOCH}.joined.${START_MS}.ada`, room: ROOM, at: START_MS, data: who });
    expect(room.queue.of("room.vacated")[0]).toMatchObject({
      id: `${EPOCH}.vacated.${START_MS}`,
      data: { since: START_MS },
    });
  });

  it("HOOK-4: a second tab and a reload cause no event, also of the only member", async () => {
    const { room, ada } = await withEmptyQueue();
    const tab = await room.join("ada");
    await room.pass(2000);
    tab.leave();
    await room.pass(10_000);
    ada.leave();
    await room.pass(3000);
    await room.join("ada");
    await room.pass(60_000);
    expect(room.queue.story).toEqual([]);
  });

  it("HOOK-4: the same through sleep, also within the grace of a member who left", async () => {
    const { room, ada } = await roomWithAda();
    room.shell.evict();
    await room.join("ben");
    await room.pass(1500);
    ada.leave();
    await room.pass(1500);
    room.shell.evict();
    await room.pass(20_000);
    expect(room.queue.story).toEqual(["occupied", "joined ada", "joined ben", "left ada"]);
  });

  it("HOOK-4: the former only member has left where another one came and the room slept", async () => {
    const { room, ada } = await roomWithAda();
    ada.leave();
    await room.pass(1000);
    await room.join("ben");
    await room.pass(1500);
    room.shell.evict();
    await room.pass(20_000);
    expect(room.queue.story).toEqual(["occupied", "joined ada", "joined ben", "left ada"]);
  });

  it("HOOK-4: after a crash, members who come back have not left, and the others have", async () => {
    const { room } = await roomWithAda();
    await room.join("ben");
    await room.pass(5000);
    room.shell.crash();
    await room.pass(10_000);
    await room.join("ada");
    await room.pass(RESTART_GRACE_MS);
    expect(room.queue.story).toEqual(["occupied", "joined ada", "joined ben", "left ben"]);
  });

  it("HOOK-4: a member who came back in time has not left, whatever was stored meanwhile", async () => {
    const { room, ada } = await roomWithAda();
    ada.leave();
    await room.pass(1000);
    // Stores a batch, and with it the grace that runs.
    await room.ask(
      "chat-message",
      { user: "backend", name: "backend", role: "service" },
      { content: "nobody is here" },
    );
    await room.pass(2000);
    await room.join("ada");
    await room.pass(60_000);
    room.shell.crash();
    await room.pass(5000);
    await room.join("ada");
    await room.pass(2 * RESTART_GRACE_MS);
    expect(room.queue.story.filter((told) => /left|vacated/.test(told))).toEqual([]);
  });

  it("HOOK-4: a room is vacated where no member comes back after a crash", async () => {
    const { room } = await roomWithAda();
    room.shell.crash();
    await room.pass(RESTART_GRACE_MS + 1000);
    expect(room.queue.story).toEqual(["occupied", "joined ada", "left ada", "vacated"]);
    // And that is all there is to do.
    expect(room.shell.quietMs).toBe(Infinity);
  });

  it("HOOK-4: a room that sleeps meanwhile sends those whom a crash took from it", async () => {
    const { room } = await roomWithAda();
    room.shell.crash();
    for (let seconds = 0; seconds < 2 * (RESTART_GRACE_MS / 1000); seconds++) {
      // The platform puts away what sleeps and has no connections.
      if (room.shell.canSleep) room.shell.evict();
      await room.pass(1000);
    }
    expect(room.queue.story).toEqual(["occupied", "joined ada", "left ada", "vacated"]);
  });

  it("HOOK-4: every member of a crowd is sent by name", async () => {
    const { room } = await withEmptyQueue();
    const crowd = Array.from({ length: 400 }, (_, i) => `user-${i}`);
    const clients: Client[] = [];
    for (const user of crowd) clients.push(await room.join(user));
    await room.pass(5000);
    expect(room.queue.of("member.joined").map(({ data }) => data.user)).toEqual(crowd);
    for (const client of clients) client.leave();
    await room.pass(15_000);
    expect(
      room.queue
        .of("member.left")
        .map(({ data }) => data.user)
        .sort(),
    ).toEqual(crowd.toSorted());
    expect(room.queue.of("room.vacated")).toEqual([]);
  });
});

describe("costs", () => {
  it("HOOK-6: a room without a webhook writes no row", async () => {
    const room = new ChatRoom();
    const ada = await room.join("ada");
    await ada.ask("chat-message", { content: "hello" });
    ada.leave();
    room.shell.advance(60_000);
    expect(room.state.writes).toBe(0);
    expect(room.shell.quietMs).toBe(Infinity);
  });

  it("HOOK-6: one row per batch of messages, one more per batch of changes, one where members came or went", async () => {
    const { room, ada } = await withEmptyQueue();
    const cost = async (work: () => Promise<unknown>): Promise<number> => {
      const { writes } = room.state;
      await work();
      await room.pass(3000);
      return room.state.writes - writes;
    };
    let id = "";
    expect(await cost(async () => (id = await say(ada, "hello")))).toBe(1);
    expect(
      await cost(async () => {
        for (let i = 0; i < 50; i++) ada.call("chat-message", { content: `${i}` });
      }),
    ).toBeLessThanOrEqual(2);
    expect(await cost(() => ada.ask("edit-message", { id, content: "hi" }))).toBe(2);
    expect(await cost(() => ada.ask("delete-message", { id }))).toBe(2);
    expect(await cost(() => room.join("ben"))).toBe(1);
    expect(await cost(() => room.pass(600_000))).toBe(0);
  });

  it("HOOK-6: a room with a history begins with the next message", async () => {
    const room = new WebhookRoom();
    const ada = await room.join("ada");
    await say(ada, "old");
    await room.pass(1000);
    room.state.delete("webhooks");
    room.queue.batches.length = 0;
    room.shell.crash();
    await say(await room.join("ada"), "new");
    await room.pass(1000);
    expect(room.queue.story).toContain("posted 2 new");
    expect(room.queue.story).not.toContain("posted 1 old");
  });
});

it("HOOK-1: sends an edit during which the clock moves on", async () => {
  const { room, ada } = await withEmptyQueue();
  const id = await say(ada, "helo");
  await room.pass(1500);
  let nowMs = room.shell.nowMs;
  Object.defineProperty(room.shell, "nowMs", { get: () => nowMs++, configurable: true });
  ada.call("edit-message", { id, content: "hello" });
  Object.defineProperty(room.shell, "nowMs", { value: nowMs, writable: true });
  await room.pass(1500);
  expect(room.queue.story).toEqual(["posted 1 helo", "edited 1 hello"]);
});

it("API-13: looking at a room stores nothing, with a webhook as well", () => {
  const room = new WebhookRoom();
  room.chat.calls.overview();
  expect(room.state.writes + room.log.rowsWritten).toBe(0);
});
