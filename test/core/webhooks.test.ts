// What the operator's own server is told of a room, and when: by way of a queue that may fail.
import { describe, expect, it } from "vitest";

import { RESTART_GRACE_MS } from "../../src/chat/attendance.ts";
import { UnreadableBatch } from "../../src/chat/batch-format.ts";
import { WEBHOOK_BYTES_MAX, WEBHOOK_EVENTS_MAX } from "../../src/chat/webhook-batch.ts";
import { WEBHOOK_RETRY_MS, WEBHOOK_RETRY_MS_MAX, WEBHOOK_SEND_MS_MAX } from "../../src/chat/webhooks.ts";
import { ChatRoom, EPOCH, ROOM } from "./chat-room.ts";
import { START_MS, type Client } from "./harness.ts";
import { WebhookRoom } from "./webhook-room.ts";

async function roomWithAda(settings = {}): Promise<{ room: WebhookRoom; ada: Client }> {
  const room = new WebhookRoom(settings);
  const ada = await room.join({ user: "ada", name: "Ada" });
  await room.pass(5000);
  return { room, ada };
}

/** Forgets what was told so far. */
async function told(): Promise<{ room: WebhookRoom; ada: Client }> {
  const parts = await roomWithAda();
  parts.room.queue.batches.length = 0;
  return parts;
}

async function say(client: Client, content: string): Promise<string> {
  const { id } = await client.ask<{ id: string }>("chat-message", { content });
  return id;
}

/** One after the other, each in a batch of its own. */
async function sayAll(room: WebhookRoom, client: Client, contents: readonly string[]): Promise<void> {
  for (const content of contents) {
    await say(client, content);
    await room.pass(60);
  }
}

describe("a message", () => {
  it("HOOK-1: is told at once in a quiet room, as everybody sees it", async () => {
    const { room, ada } = await told();
    const id = await say(ada, "hello, @ben");
    await room.pass(0);
    const [message] = room.log.messages;
    const at = message!.timestamp;
    expect(room.queue.events).toEqual([
      { id: `${id}.posted`, type: "message.posted", room: ROOM, at, order: at * 4, data: { message } },
    ]);
  });

  it("HOOK-1: is told when it was edited and deleted, by whom, in that order", async () => {
    const { room, ada } = await told();
    const id = await say(ada, "helo");
    await ada.ask("edit-message", { id, content: "hello" });
    await room.pass(1500);
    await ada.ask("edit-message", { id, content: "hello!" });
    await room.pass(1500);
    await room.call("delete-message", { user: "mod", role: "moderator" }, { id });
    await room.pass(1500);
    expect(room.queue.story).toEqual(["posted 1 hello", "edited 1 hello", "edited 1 hello!", "deleted 1 by mod"]);
    expect(room.queue.of("message.edited")[0]!.data).toMatchObject({ by: "ada", message: { id, content: "hello" } });
    expect(room.queue.of("message.deleted")[0]).toMatchObject({ id: `${id}.deleted`, data: { id, seq: 1, by: "mod" } });
    const orders = room.queue.events.map(({ order }) => order);
    expect(orders).toEqual([...new Set(orders)].sort((a, b) => a - b));
    expect(new Set(room.queue.events.map((event) => event.id)).size).toBe(4);
  });

  it("HOOK-2: edits in one moment are told as one, with what it says in the end", async () => {
    const { room, ada } = await told();
    const id = await say(ada, "1");
    await room.pass(1500);
    room.queue.batches.length = 0;
    for (const content of ["2", "3", "4"]) await ada.ask("edit-message", { id, content });
    await room.pass(1500);
    expect(room.queue.story).toEqual(["edited 1 4"]);
  });

  it("reactions are not told", async () => {
    const { room, ada } = await told();
    const id = await say(ada, "hello");
    await room.pass(1500);
    const { writes } = room.state;
    await ada.ask("react", { id, emoji: "👍", on: true });
    await room.pass(1500);
    expect(room.queue.story).toEqual(["posted 1 hello"]);
    expect(room.state.writes).toBe(writes);
  });

  it("HOOK-2: a busy room gathers for a second", async () => {
    const { room, ada } = await told();
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

  it("HOOK-2: a batch has so many events and bytes at most, and the next one follows at once", async () => {
    const { room, ada } = await told();
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

  it("HOOK-2: one that fills a batch alone is told without its content", async () => {
    const { room } = await roomWithAda({ maxContentLength: 60_000 });
    room.ask("ada", "chat-message", { content: "é".repeat(55_000) });
    await room.pass(1000);
    expect(room.queue.of("message.posted")[0]!.data).toMatchObject({
      isClipped: true,
      message: { seq: 1, content: "" },
    });
  });

  it("HOOK-3: in a relaxed room is told once it is stored", async () => {
    const { room, ada } = await roomWithAda({ durability: "relaxed" });
    for (let i = 0; i < 20; i++) {
      ada.call("chat-message", { content: String(i) });
      await room.pass(70);
    }
    await room.pass(3000);
    expect(room.queue.of("message.posted").map(({ data }) => data.message)).toEqual(room.log.messages);
  });

  it("HOOK-3: one that cannot be read keeps none behind it from being told", async () => {
    const { room, ada } = await told();
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
    expect(room.shell.reports.at(-1)).toMatchObject({
      problem: "messages that cannot be read are not told to the webhook",
    });
  });
});

describe("people", () => {
  it("HOOK-4: who comes and goes is told, and when the room fills and empties", async () => {
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

  it("HOOK-4: a second tab, a reload, and the reload of who is alone are no news", async () => {
    const { room, ada } = await told();
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

  it("HOOK-4: holds through sleep, also while somebody may still come back", async () => {
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

  it("HOOK-4: somebody else in the emptied room, and sleep: who was alone before has left", async () => {
    const { room, ada } = await roomWithAda();
    ada.leave();
    await room.pass(1000);
    await room.join("ben");
    await room.pass(1500);
    room.shell.evict();
    await room.pass(20_000);
    expect(room.queue.story).toEqual(["occupied", "joined ada", "joined ben", "left ada"]);
  });

  it("HOOK-4: after a crash, who comes back has not left, and who does not has", async () => {
    const { room } = await roomWithAda();
    await room.join("ben");
    await room.pass(5000);
    room.shell.crash();
    await room.pass(10_000);
    await room.join("ada");
    await room.pass(RESTART_GRACE_MS);
    expect(room.queue.story).toEqual(["occupied", "joined ada", "joined ben", "left ben"]);
  });

  it("HOOK-4: a crash from which nobody comes back empties the room", async () => {
    const { room } = await roomWithAda();
    room.shell.crash();
    await room.pass(RESTART_GRACE_MS + 1000);
    expect(room.queue.story).toEqual(["occupied", "joined ada", "left ada", "vacated"]);
    // And that is all there is to do.
    expect(room.shell.quietMs).toBe(Infinity);
  });

  it("HOOK-4: a crowd is told by name, however large", async () => {
    const { room } = await told();
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

describe("a queue in trouble", () => {
  it("HOOK-3: is tried again, less and less often, and gets everything in order", async () => {
    const { room, ada } = await told();
    room.queue.mood = "refuses";
    const before = room.queue.asked;
    await sayAll(room, ada, ["1", "2", "3"]);
    await room.pass(WEBHOOK_RETRY_MS * 7.5);
    expect(room.queue.asked).toBe(before + 4);
    expect(room.shell.reports.map(({ problem }) => problem)).toEqual(
      [1, 2, 4, 8].map((seconds) => `webhook events could not be queued; next try in ${seconds} s`),
    );
    await room.pass(3_600_000);
    const { asked } = room.queue;
    await room.pass(3_600_000);
    expect(room.queue.asked - asked).toBe(3_600_000 / WEBHOOK_RETRY_MS_MAX);
    room.queue.mood = "takes";
    await room.pass(WEBHOOK_RETRY_MS_MAX);
    expect(room.queue.story).toEqual(["posted 1 1", "posted 2 2", "posted 3 3"]);
  });

  it("HOOK-3: remembers through sleep and crashes when it was to be tried again", async () => {
    const { room, ada } = await told();
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

  it("HOOK-3: that does not answer is given up, and what it says later changes nothing", async () => {
    const { room, ada } = await told();
    room.queue.mood = "is silent";
    await say(ada, "1");
    await room.pass(WEBHOOK_SEND_MS_MAX - 1000);
    expect(room.shell.canSleep).toBe(false);
    await room.pass(1500);
    expect(room.shell.reports).toHaveLength(1);
    room.queue.mood = "refuses";
    room.queue.answerAtLast();
    await room.pass(1);
    room.shell.crash();
    room.queue.mood = "takes";
    await room.pass(10_000);
    expect(room.queue.story[0]).toBe("posted 1 1");
  });

  it("HOOK-3: keeps no room awake", async () => {
    const { room, ada } = await told();
    room.queue.mood = "refuses";
    await say(ada, "1");
    await room.pass(4000);
    await room.pass(1500);
    expect(room.shell.canSleep).toBe(true);
  });

  it("HOOK-3: does not slow down a post", async () => {
    const { room, ada } = await told();
    room.queue.mood = "is silent";
    for (const content of ["1", "2", "3"]) {
      await say(ada, content);
      await room.pass(100);
    }
    expect(room.log.lastSeq).toBe(3);
  });
});

describe("a room's own troubles", () => {
  it("HOOK-3: where it cannot note how far it told, it tells again", async () => {
    const { room, ada } = await told();
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

  it("HOOK-3: a log that cannot be read is tried again", async () => {
    const { room, ada } = await told();
    await say(ada, "1");
    room.log.unreadable = new Error("disk on fire");
    await room.pass(500);
    expect(room.queue.story).toEqual([]);
    room.log.unreadable = undefined;
    await room.pass(2000);
    expect(room.queue.story).toEqual(["posted 1 1"]);
  });

  it("HOOK-5: has the last word when it is deleted", async () => {
    const { room, ada } = await told();
    room.queue.mood = "refuses";
    await say(ada, "1");
    await room.pass(500);
    room.queue.mood = "takes";
    room.chat.sayGoodbye(() => ({ code: "ROOM_DELETED", message: "gone" }));
    ada.leave();
    room.chat.prepareErase();
    expect(room.queue.story).toEqual(["posted 1 1", "left ada", "vacated"]);
    const { writes } = room.state;
    await room.pass(60_000);
    expect(room.state.writes).toBe(writes);
    expect(room.queue.story).toHaveLength(3);
  });
});

describe("what it costs", () => {
  it("HOOK-6: nothing where there is no webhook", async () => {
    const room = new ChatRoom();
    const ada = await room.join("ada");
    await ada.ask("chat-message", { content: "hello" });
    ada.leave();
    room.shell.advance(60_000);
    expect(room.state.writes).toBe(0);
    expect(room.shell.quietMs).toBe(Infinity);
  });

  it("HOOK-6: a row per batch of messages, one more where messages changed, one where people came or went", async () => {
    const { room, ada } = await told();
    const cost = async (work: () => Promise<unknown>): Promise<number> => {
      const { writes } = room.state;
      await work();
      await room.pass(3000);
      return room.state.writes - writes;
    };
    let id = "";
    expect(await cost(async () => (id = await say(ada, "hello")))).toBe(1);
    expect(
      await cost(() =>
        Promise.all(Array.from({ length: 50 }, (_, i) => ada.call("chat-message", { content: `${i}` }))),
      ),
    ).toBeLessThanOrEqual(2);
    expect(await cost(() => ada.ask("edit-message", { id, content: "hi" }))).toBe(2);
    expect(await cost(() => ada.ask("delete-message", { id }))).toBe(2);
    expect(await cost(() => room.join("ben"))).toBe(1);
    expect(await cost(() => room.pass(600_000))).toBe(0);
  });

  it("HOOK-6: a room that has a history when the webhook is set up begins with what comes", async () => {
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

it("HOOK-1: an edit is told where the clock moves on while it is made", async () => {
  const { room, ada } = await told();
  const id = await say(ada, "helo");
  await room.pass(1500);
  let nowMs = room.shell.nowMs;
  Object.defineProperty(room.shell, "nowMs", { get: () => nowMs++, set: (ms: number) => (nowMs = ms) });
  ada.call("edit-message", { id, content: "hello" });
  Object.defineProperty(room.shell, "nowMs", { value: nowMs, writable: true });
  await room.pass(1500);
  expect(room.queue.story).toEqual(["posted 1 helo", "edited 1 hello"]);
});
