// CHAT-7: `DURABILITY=relaxed`. A busy room shows messages before it stores them, many to a row; messages lost in a crash or by a
// full disk were never acked, and their seqs are never given to other messages.
import { describe, expect, it } from "vitest";

import {
  BATCH_CHARS_MAX,
  BUSY_COMMITS,
  UNSTORED_MS_MAX,
  UNSTORED_POSTS_MAX,
} from "../../../src/chat/posting/commit.ts";
import type { Message } from "../../../src/protocol/chat-events.ts";
import { ChatRoom, RECOVERS, recoveryAuthOf, SETTINGS, UNLIMITED } from "../../host/chat-room.ts";
import { EPOCH } from "../../host/memory-log.ts";
import type { Client } from "../../host/harness.ts";

const WINDOW_MS = SETTINGS.flushWindowMs;
const seqsOf = (client: Client): number[] => client.received<Message>("chat-message").map(({ seq }) => seq);
const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1);
const idOf = (seq: number): string => `${EPOCH}-${seq.toString(36)}`;

interface Scene {
  readonly room: ChatRoom;
  readonly ada: Client;
  readonly ben: Client;
}

async function relaxedRoom(settings: object = {}): Promise<Scene> {
  const room = new ChatRoom({ durability: "relaxed", messageRate: UNLIMITED, ...settings });
  const ada = await room.join("ada");
  const ben = await room.join("ben");
  room.quiet();
  return { room, ada, ben };
}

/** Posts until the next message will be seen before it is stored, a window later. */
async function busyRoom(settings: object = {}): Promise<Scene> {
  const scene = await relaxedRoom(settings);
  for (let i = 1; i <= BUSY_COMMITS; i++) {
    scene.ada.emit("chat-message", { content: `${i}` });
    scene.room.shell.advance(WINDOW_MS);
  }
  return scene;
}

describe("a quiet relaxed room", () => {
  it("stores before it shows, as a strict room does, and writes one row per message", async () => {
    const { room, ada } = await relaxedRoom();
    for (const seq of upTo(20)) {
      expect(ada.call("chat-message", { content: "x" }).answer).toMatchObject({ ok: true, seq });
      room.shell.advance(UNSTORED_MS_MAX / (BUSY_COMMITS - 1));
    }
    expect(room.log.rowsWritten).toBe(20);
  });
});

describe("a busy relaxed room", () => {
  it("reserves, then shows, and stores and acks within a second", async () => {
    const { room, ada, ben } = await busyRoom();
    const { journal } = room.shell;
    journal.length = 0;
    const call = ada.call("chat-message", { content: "4" });
    expect(journal.map((line) => line.split(" ")[0]!.slice(0, 7))).toEqual(["reserve", "ada<42[", "ben<42["]);
    expect(call.acks).toEqual([]);
    room.shell.advance(UNSTORED_MS_MAX);
    expect(call.answer).toMatchObject({ ok: true, seq: 4 });
    expect(room.log.messages.map(({ seq }) => seq)).toEqual(upTo(4));
    expect(ben.received("chat-message")).toEqual(room.log.messages);
  });

  it("shows once per window, in order, and stores once per second", async () => {
    const { room, ada, ben } = await busyRoom();
    const rows = room.log.rowsWritten;
    const calls = Array.from({ length: 500 }, (_, i) => {
      room.shell.advance(WINDOW_MS / 2);
      return (i % 2 ? ada : ben).call("chat-message", { content: `${i}` });
    });
    room.quiet();
    room.quiet();
    const seqs = upTo(BUSY_COMMITS + calls.length);
    expect(seqsOf(ben)).toEqual(seqs);
    expect(room.log.messages.map(({ seq }) => seq)).toEqual(seqs);
    expect(calls.map(({ answer }) => answer.seq)).toEqual(seqs.slice(BUSY_COMMITS));
    // 12.5 seconds, and a row to begin and to end the running ahead.
    expect(room.log.rowsWritten - rows).toBeLessThanOrEqual(13 + 2);
  });

  it("becomes quiet again: it has no deadline, and reserves no seq", async () => {
    const { room, ada } = await busyRoom();
    ada.emit("chat-message", { content: "4" });
    room.quiet();
    room.quiet();
    expect(room.shell.quietMs).toBeGreaterThan(UNSTORED_MS_MAX);
    room.shell.crash();
    const back = await room.join("ada");
    expect(back.received("welcome")).toMatchObject([{ lastSeq: 4 }]);
  });

  it("stores within a second also while a burst of input starves its timers", async () => {
    const { room, ada } = await busyRoom();
    ada.emit("chat-message", { content: "4" });
    room.shell.nowMs += UNSTORED_MS_MAX;
    ada.emit("chat-message", { content: "5" });
    expect(room.log.messages.map(({ seq }) => seq)).toEqual(upTo(4));
  });

  it(`stores early beyond ${UNSTORED_POSTS_MAX} posts`, async () => {
    const { room, ada } = await busyRoom();
    for (let i = 0; i <= UNSTORED_POSTS_MAX; i++) ada.emit("chat-message", { content: `${i}` });
    expect(room.log.batches.map(({ length }) => length)).toEqual([1, 1, 1, expect.any(Number)]);
    const [, , , early] = room.log.batches;
    expect(early!.length).toBeGreaterThan(UNSTORED_POSTS_MAX / 2);
    expect(early!.length).toBeLessThanOrEqual(UNSTORED_POSTS_MAX);
  });

  it("stores early beyond the size of a row", async () => {
    const { room, ada } = await busyRoom({ maxContentLength: 30_000 });
    for (let i = 0; i < 40; i++) {
      ada.emit("chat-message", { content: "x".repeat(30_000) });
      room.shell.advance(10);
    }
    room.quiet();
    const sizes = room.log.batches.map((batch) => batch.reduce((sum, { content }) => sum + content.length, 0));
    expect(Math.max(...sizes)).toBeLessThanOrEqual(BATCH_CHARS_MAX);
    expect(seqsOf(ada)).toEqual(upTo(43));
  });
});

describe("a reader of the log of a busy relaxed room", () => {
  it("finds every message that any member has seen, and it is stored by then", async () => {
    const { room, ada, ben } = await busyRoom();
    const call = ada.call("chat-message", { content: "4" });
    const { messages } = await ben.ask("history", {});
    expect(messages).toEqual(ben.received("chat-message"));
    expect(messages).toEqual(room.log.messages);
    expect(call.answer).toMatchObject({ ok: true, seq: 4 });
  });

  it("gets a welcome with the seq that others have seen, and every message after it", async () => {
    const { room, ada } = await busyRoom();
    ada.emit("chat-message", { content: "4" });
    const late = await room.join("late");
    expect(late.received("welcome")).toMatchObject([{ lastSeq: 4 }]);
    expect(room.log.messages).toHaveLength(4);
    room.shell.advance(WINDOW_MS);
    ada.emit("chat-message", { content: "5" });
    expect(seqsOf(late)).toEqual([5]);
  });

  it("may reply to a message that is not stored yet", async () => {
    const { room, ada, ben } = await busyRoom();
    ada.emit("chat-message", { content: "4" });
    const call = ben.call("chat-message", { content: "5", replyTo: idOf(4) });
    room.quiet();
    expect(call.answer).toMatchObject({ ok: true, seq: 5 });
    expect(room.log.messages.at(-1)).toMatchObject({ replyTo: idOf(4) });
  });

  it("gets the answer to a repeated post when the first one is stored", async () => {
    const { room, ada } = await busyRoom();
    const calls = [1, 2].map(() => ada.call("chat-message", { content: "4", clientMsgId: "c" }));
    for (const { acks } of calls) expect(acks).toEqual([]);
    room.quiet();
    const [first, second] = calls.map(({ answer }) => answer);
    expect(first).toMatchObject({ ok: true, seq: 4 });
    expect(second).toEqual({ ...first, duplicate: true });
    expect(seqsOf(ada)).toEqual(upTo(4));
  });
});

describe("recovery while messages are not stored", () => {
  it("replays exactly the missed messages, whether others saw them or not", async () => {
    const { room, ada } = await busyRoom();
    const cleo = await room.join("cleo", RECOVERS);
    room.shell.advance(WINDOW_MS);
    ada.emit("chat-message", { content: "4" });
    const recoveryAuth = recoveryAuthOf(cleo);
    cleo.leave();
    room.shell.advance(WINDOW_MS);
    ada.emit("chat-message", { content: "5" });
    const back = await room.join("cleo", RECOVERS, recoveryAuth);
    expect(recoveryAuthOf(back).pid).toBe(recoveryAuth.pid);
    expect([seqsOf(cleo), seqsOf(back)]).toEqual([[4], [5]]);
  });

  it("has offsets that never go back", async () => {
    const { room, ada } = await busyRoom();
    const cleo = await room.join("cleo", RECOVERS);
    for (const name of ["dora", "emil", "fred"]) {
      room.shell.advance(WINDOW_MS);
      ada.emit("chat-message", { content: "x" });
      await room.join(name);
      room.shell.advance(300);
      ada.emit("chat-message", { content: "y" });
    }
    room.quiet();
    const places = cleo.events().map(({ event }) => Number.parseInt((event.at(-1) as string).split(".")[1]!, 36));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(new Set(places).size).toBeGreaterThan(5);
  });
});

describe("a crash of a busy relaxed room", () => {
  it("loses only unacked messages, and gives their seqs to no other message", async () => {
    const { room, ada, ben } = await busyRoom();
    const lost = ada.call("chat-message", { content: "lost", clientMsgId: "c" });
    room.shell.crash();
    expect(lost.acks).toEqual([]);
    const back = await room.join("ada");
    expect((await back.ask("history", {})).messages.map(({ seq }: Message) => seq)).toEqual(upTo(3));
    const again = back.call("chat-message", { content: "lost", clientMsgId: "c" });
    expect(again.answer.seq).toBeGreaterThan(Math.max(...seqsOf(ben)));
    expect(again.answer).not.toHaveProperty("duplicate");
    expect(room.log.messages.filter(({ content }) => content === "lost")).toHaveLength(1);
  });

  it("makes recovering clients start afresh, whether they saw the lost messages or not", async () => {
    const { room, ada } = await busyRoom();
    const cleo = await room.join("cleo", RECOVERS);
    const before = recoveryAuthOf(cleo);
    room.shell.advance(WINDOW_MS);
    ada.emit("chat-message", { content: "lost" });
    const after = recoveryAuthOf(cleo);
    expect(after.offset).not.toBe(before.offset);
    room.shell.crash();
    for (const recoveryAuth of [before, after]) {
      const back = await room.join("cleo", RECOVERS, recoveryAuth);
      expect(recoveryAuthOf(back).pid).not.toBe(recoveryAuth.pid);
      expect(seqsOf(back)).toEqual([]);
    }
  });

  it("answers NOT_FOUND to replies to a lost message", async () => {
    const { room, ada } = await busyRoom();
    ada.emit("chat-message", { content: "lost" });
    room.shell.crash();
    const back = await room.join("ada");
    const call = back.call("chat-message", { content: "re", replyTo: idOf(4) });
    expect(call.answer).toMatchObject({ error: { code: "NOT_FOUND" } });
  });
});

describe("a busy relaxed room that cannot store", () => {
  it("answers INTERNAL, skips the seqs of shown messages, and stores before it shows from then on", async () => {
    const { room, ada, ben } = await busyRoom();
    const lost = ada.call("chat-message", { content: "seen and lost", clientMsgId: "c" });
    room.log.failure = new Error("disk full");
    room.shell.advance(UNSTORED_MS_MAX);
    expect(lost.answer).toMatchObject({ error: { code: "INTERNAL" } });
    const unseen = ada.call("chat-message", { content: "not even seen" });
    room.shell.advance(WINDOW_MS);
    expect(unseen.answer).toMatchObject({ error: { code: "INTERNAL" } });
    expect(seqsOf(ben)).toEqual(upTo(4));
    room.log.failure = undefined;
    const again = ada.call("chat-message", { content: "seen and lost", clientMsgId: "c" });
    room.shell.advance(WINDOW_MS);
    expect(again.answer.seq).toBeGreaterThan(4);
    expect(again.answer).not.toHaveProperty("duplicate");
    expect(room.log.messages.map(({ content }) => content)).toEqual(["1", "2", "3", "seen and lost"]);
    expect(ada.closing).toBeUndefined();
  });

  it("stores before it shows where it cannot reserve seqs", async () => {
    const { room, ada, ben } = await busyRoom();
    room.log.reserve = () => {
      throw new Error("disk full");
    };
    expect(ada.call("chat-message", { content: "4" }).answer).toMatchObject({ ok: true, seq: 4 });
    expect(seqsOf(ben)).toEqual(upTo(4));
    expect(room.shell.problems).toHaveLength(1);
  });
});
