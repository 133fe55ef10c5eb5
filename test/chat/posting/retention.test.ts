// Retention: old messages go in time, in quiet rooms too, and the rest stays whole. An unreadable log harms only its readers.
import { describe, expect, it, vi } from "vitest";

import { UnreadableBatch } from "../../../src/chat/log/batch-format.ts";
import type { Message } from "../../../src/protocol/chat-events.ts";
import { ChatRoom, RECOVERS, recoveryAuthOf, UNLIMITED } from "../../host/chat-room.ts";
import { EPOCH } from "../../host/memory-log.ts";
import { CONFIRM_MS } from "../../../src/chat/posting/retention-clock.ts";
import type { Client } from "../../host/harness.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const idOf = (seq: number): string => `${EPOCH}-${seq.toString(36)}`;

async function roomOf(messages: number, retention: object): Promise<{ room: ChatRoom; ada: Client }> {
  const room = new ChatRoom({ messageRate: UNLIMITED });
  room.log.retention = { messages: Infinity, ageMs: Infinity, ...retention };
  const ada = await room.join("ada");
  for (let i = 1; i <= messages; i++) {
    ada.emit("chat-message", { content: `${i}`, clientMsgId: `c${i}` });
    room.shell.advance(100);
  }
  return { room, ada };
}

const seqsIn = async (client: Client, query: object): Promise<number[]> =>
  (await client.ask("history", query)).messages.map(({ seq }: Message) => seq);

describe("CHAT-8: a room with more than HISTORY_MESSAGES", () => {
  it("reads the stored finding once, however many batches it stores", async () => {
    const { room, ada } = await roomOf(1, { ageMs: DAY_MS });
    const reads = vi.spyOn(room.state, "get");
    room.shell.evict();
    for (let i = 0; i < 3; i++) {
      ada.emit("chat-message", { content: `${i}` });
      room.shell.advance(100);
    }
    expect(reads.mock.calls.filter(([key]) => key === "retention")).toHaveLength(1);
  });

  it("drops the oldest as new ones come", async () => {
    const { ada } = await roomOf(25, { messages: 10 });
    expect(await ada.ask("history", { limit: 10 })).toMatchObject({ hasMore: false });
    expect(await seqsIn(ada, {})).toEqual([16, 17, 18, 19, 20, 21, 22, 23, 24, 25]);
    expect(await seqsIn(ada, { before: 18 })).toEqual([16, 17]);
    expect(await seqsIn(ada, { after: 3, limit: 2 })).toEqual([16, 17]);
    expect(await ada.ask("history", { before: 16 })).toEqual({ ok: true, messages: [], hasMore: false });
  });

  it("refuses a reply to a dropped message", async () => {
    const { room, ada } = await roomOf(25, { messages: 10 });
    const [gone, kept] = [15, 16].map((seq) => ada.call("chat-message", { content: "re", replyTo: idOf(seq) }));
    room.quiet();
    expect(gone!.answer).toMatchObject({ error: { code: "NOT_FOUND" } });
    expect(kept!.answer).toMatchObject({ ok: true });
  });

  it.each([false, true])(
    "recognises a post sent again as long as it keeps it (asleep meanwhile: %s)",
    async (asleep) => {
      const { room, ada } = await roomOf(25, { messages: 10 });
      room.quiet();
      if (asleep) room.shell.evict();
      expect(await ada.ask("chat-message", { content: "20", clientMsgId: "c20" })).toMatchObject({
        seq: 20,
        duplicate: true,
      });
      expect(await ada.ask("chat-message", { content: "3", clientMsgId: "c3" })).toMatchObject({ seq: 26 });
    },
  );

  it.each([
    [15, true],
    [14, false],
  ])("replays to a client that has seen %i of 16 to 25: recovered %s", async (seen, recovers) => {
    const { room } = await roomOf(seen - 1, { messages: 10 });
    const cleo = await room.join("cleo", RECOVERS);
    const ben = await room.join("ben");
    ben.emit("chat-message", { content: "the last that cleo hears" });
    room.quiet();
    const place = recoveryAuthOf(cleo);
    cleo.leave();
    for (let i = seen + 1; i <= 25; i++) {
      ben.emit("chat-message", { content: `${i}` });
      room.shell.advance(100);
    }
    const back = await room.join("cleo", RECOVERS, place);
    expect(recoveryAuthOf(back).pid === place.pid).toBe(recovers);
    expect(back.received("chat-message")).toHaveLength(recovers ? 10 : 0);
  });
});

describe("CHAT-8: a room with messages older than HISTORY_DAYS", () => {
  it("drops them without a post, and continues its seq", async () => {
    const { room, ada } = await roomOf(3, { ageMs: DAY_MS });
    ada.leave();
    room.quiet();
    // One moment far away, and no other.
    expect(room.shell.quietMs).toBeGreaterThan(DAY_MS - 10_000);
    room.shell.advance(DAY_MS);
    expect(room.log.messages).toHaveLength(3);
    expect(room.shell.quietMs).toBeLessThanOrEqual(CONFIRM_MS);
    room.shell.advance(CONFIRM_MS);
    expect(room.log.messages).toEqual([]);
    expect(room.shell.quietMs).toBe(Infinity);
    room.shell.evict();
    const back = await room.join("ada");
    expect(back.received("welcome")).toMatchObject([{ lastSeq: 3 }]);
    expect(await back.ask("history", {})).toEqual({ ok: true, messages: [], hasMore: false });
    expect(await back.ask("chat-message", { content: "4" })).toMatchObject({ ok: true, seq: 4 });
  });

  it("does so after sleep too, and an hour later where the moment has passed, however it sleeps meanwhile", async () => {
    const { room, ada } = await roomOf(3, { ageMs: DAY_MS });
    ada.leave();
    room.quiet();
    room.shell.evict();
    expect(room.shell.quietMs).toBeLessThanOrEqual(DAY_MS);
    room.shell.nowMs += 2 * DAY_MS;
    for (let tenths = 0; tenths < 10; tenths++) {
      room.shell.evict();
      room.shell.advance(0);
      expect(room.log.messages).toHaveLength(3);
      room.shell.nowMs += CONFIRM_MS / 10;
    }
    room.shell.evict();
    room.shell.advance(0);
    expect(room.log.messages).toEqual([]);
    expect(room.state.writes).toBe(1);
  });

  it.each([false, true])(
    "forgets nothing by a clock that is 33 days ahead for a moment (asleep then: %s)",
    async (asleep) => {
      const { room } = await roomOf(3, { ageMs: 30 * DAY_MS });
      const startMs = room.shell.nowMs;
      const sayAt = async (nowMs: number, user: string): Promise<void> => {
        if (asleep) room.shell.evict();
        room.shell.nowMs = nowMs;
        const posted = (await room.join(user)).call("chat-message", { content: "hello" });
        room.shell.advance(1000);
        expect(posted.answer).toMatchObject({ ok: true });
      };
      for (let jump = 1; jump <= 3; jump++) {
        await sayAt(startMs + jump * 2 * HOUR_MS + 33 * DAY_MS, "ben");
        await sayAt(startMs + jump * 2 * HOUR_MS, "cleo");
      }
      expect(room.log.messages).toHaveLength(3 + 3 * 2);
      // By the right clock they go in time.
      await sayAt(startMs + 30 * DAY_MS, "dan");
      expect(room.log.messages[0]).toMatchObject({ seq: 1 });
      await sayAt(startMs + 30 * DAY_MS + CONFIRM_MS, "dan");
      expect(room.log.firstSeq).toBeGreaterThan(3);
    },
  );

  it("forgets no more than was seen, where the clock is 33 days ahead just as that is looked at again", async () => {
    const { room } = await roomOf(2, { ageMs: 30 * DAY_MS });
    const startMs = room.shell.nowMs;
    const sayAt = async (nowMs: number, user: string): Promise<void> => {
      room.shell.nowMs = nowMs;
      (await room.join(user)).emit("chat-message", { content: "hello" });
      room.shell.advance(1000);
    };
    await sayAt(startMs + 20 * DAY_MS, "ben");
    await sayAt(startMs + 30 * DAY_MS, "cleo");
    await sayAt(startMs + 63 * DAY_MS, "dan");
    await sayAt(startMs + 30 * DAY_MS + CONFIRM_MS, "eve");
    expect(room.log.messages.map(({ seq }) => seq)).toEqual([3, 4, 5, 6]);
    // By the right clock the next ones go in time, too.
    await sayAt(startMs + 50 * DAY_MS, "finn");
    await sayAt(startMs + 50 * DAY_MS + 2 * CONFIRM_MS, "finn");
    expect(room.log.messages[0]).toMatchObject({ seq: 4 });
  });

  it("drops messages beyond HISTORY_MESSAGES at once, also with a wrong clock", async () => {
    const { room } = await roomOf(25, { messages: 10, ageMs: 30 * DAY_MS });
    expect(room.log.messages).toHaveLength(10);
    expect(room.state.writes).toBe(0);
  });

  it("does not move its deadline with every message", async () => {
    const { room, ada } = await roomOf(1, { ageMs: DAY_MS });
    const dueMs = room.log.trimDueMs!;
    ada.leave();
    room.quiet();
    const ben = await room.join("ben");
    ben.emit("chat-message", { content: "later" });
    ben.leave();
    room.quiet();
    expect(room.shell.nowMs + room.shell.quietMs).toBe(dueMs);
  });

  it("keeps them for another hour while its storage fails, and its members get no error", async () => {
    const { room, ada } = await roomOf(3, { ageMs: DAY_MS });
    ada.answersPings = true;
    room.log.failure = new Error("disk full");
    room.shell.advance(DAY_MS + CONFIRM_MS);
    expect(room.log.messages).toHaveLength(3);
    expect(room.shell.problems).toHaveLength(1);
    room.log.failure = undefined;
    room.shell.advance(3_600_000);
    expect(room.log.messages).toEqual([]);
    expect(ada.closing).toBeUndefined();
  });
});

describe("a log that cannot be read", () => {
  it("is INTERNAL to its readers, and posting goes on", async () => {
    const { room, ada } = await roomOf(3, {});
    room.quiet();
    room.shell.evict();
    room.log.unreadable = new UnreadableBatch("the batch at seq 2 is of version 9");
    expect(await ada.ask("history", {})).toMatchObject({ error: { code: "INTERNAL" } });
    expect(await ada.ask("chat-message", { content: "x", replyTo: idOf(2) })).toMatchObject({
      error: { code: "INTERNAL" },
    });
    expect(await ada.ask("chat-message", { content: "4" })).toMatchObject({ ok: true, seq: 4 });
    room.quiet();
    expect(await ada.ask("chat-message", { content: "5", clientMsgId: "c5" })).toMatchObject({ ok: true, seq: 5 });
    expect(ada.received("chat-message")).toHaveLength(5);
    expect(ada.closing).toBeUndefined();
    expect(room.shell.problems.map(({ error }) => String(error))).toEqual(
      room.shell.problems.map(() => expect.stringContaining("version 9")),
    );
  });

  it("makes a client that would recover start afresh", async () => {
    const { room, ada } = await roomOf(1, {});
    const cleo = await room.join("cleo", RECOVERS);
    const place = recoveryAuthOf(cleo);
    cleo.leave();
    ada.emit("chat-message", { content: "2" });
    room.log.unreadable = new UnreadableBatch("the batch at seq 2 is of version 9");
    const back = await room.join("cleo", RECOVERS, place);
    expect(recoveryAuthOf(back).pid).not.toBe(place.pid);
    expect(back.closing).toBeUndefined();
  });
});
