// Threads from the client's side: which messages belong to one, pages of replies, what is new for whom, and what deletion, retention and
// sleep leave of them.
import { describe, expect, it } from "vitest";

import { PART_SEQS } from "../../../src/features/threads/thread-index.ts";
import { MARKS_PER_USER_MAX } from "../../../src/features/threads/thread-marks.ts";
import {
  MARKS_STORE_INTERVAL_MS,
  SLICE_MESSAGES,
  WAITING_PER_USER_MAX,
} from "../../../src/features/threads/threads.ts";
import type { Message, Thread } from "../../../src/protocol/chat-events.ts";
import { ChatRoom, ROOM, UNLIMITED } from "../../host/chat-room.ts";
import { EPOCH } from "../../host/memory-log.ts";
import { messageId } from "../../../src/protocol/message.ts";
import { hall } from "../../host/big-room.ts";
import type { Client } from "../../host/harness.ts";
import { READ_MESSAGES_LIMIT, ReadAllowance } from "../../../src/chat/room/read-allowance.ts";
import { sleep } from "../../host/moderated-room.ts";

const OK = { ok: true };

async function cast(settings: ConstructorParameters<typeof ChatRoom>[0] = {}) {
  const room = new ChatRoom({ messageRate: UNLIMITED, flushWindowMs: 0, ...settings });
  const [ada, ben, cy] = [await room.join("ada"), await room.join("ben"), await room.join("cy")];
  room.quiet();
  return { room, ada, ben, cy };
}

const post = async (client: Client, content: string, replyTo?: string): Promise<string> =>
  (await client.ask("chat-message", { content, ...(replyTo !== undefined && { replyTo }) })).id;

async function threadsOf(client: Client, query: object = {}): Promise<readonly Thread[]> {
  const { threads } = await client.ask("threads", query);
  return threads;
}

/** Appends to the log itself: no member hears these messages. */
function fill({ log, shell }: ChatRoom, count: number): void {
  const message = { room: ROOM, sender: "ada", name: "ada", content: "more", timestamp: shell.nowMs };
  for (let left = count; left > 0; left -= 64)
    log.append(
      Array.from({ length: Math.min(64, left) }, (_, at) => {
        const seq = log.lastSeq + 1 + at;
        return { ...message, id: messageId(EPOCH, seq), seq };
      }),
    );
}

const contents = (messages: readonly Message[]): string[] => messages.map(({ content }) => content);

describe("THR-1: the thread of a reply", () => {
  it("is that of the message that it answers, and of a reply to a reply the same one", async () => {
    const { ada, ben, cy } = await cast();
    const first = await post(ada, "Who brings cake?");
    const reply = await post(ben, "I do", first);
    const nested = await post(cy, "Which?", reply);
    await post(ada, "Yes, which?", nested);
    const heard: Message[] = cy.received("chat-message");
    expect(heard.map(({ replyTo, thread }) => [replyTo, thread])).toEqual([
      [undefined, undefined],
      [first, undefined],
      [reply, first],
      [nested, first],
    ]);
    const { messages } = await ada.ask("history", {});
    expect(messages, "and is stored").toEqual(heard);
    for (const id of [first, reply, nested]) {
      const { thread, messages } = await ben.ask("thread", { id });
      expect(thread).toMatchObject({ id: first, seq: 1, replies: 3, first: { content: "Who brings cake?" } });
      expect(contents(messages)).toEqual(["I do", "Which?", "Yes, which?"]);
    }
  });

  it.each([
    ["in the open batch", { flushWindowMs: 50 }],
    ["shown and not stored", { durability: "relaxed" as const }],
  ])("is known while the answered reply is %s", async (_where, settings) => {
    const { room, ada, ben } = await cast(settings);
    const first = ada.ask("chat-message", { content: "first" });
    room.shell.advance(100);
    const { id } = await first;
    // A busy room shows before it stores.
    for (let at = 0; at < 4; at++) ada.emit("chat-message", { content: "busy" });
    ben.emit("chat-message", { content: "reply", replyTo: id });
    // A client cannot know the id of a message that it has not got; but it can be foretold.
    const replyId = id.replace(/1$/, "6");
    ada.emit("chat-message", { content: "nested", replyTo: replyId });
    room.quiet();
    const [reply, nested] = ben.received("chat-message").slice(-2);
    expect(reply).toMatchObject({ id: replyId, content: "reply" });
    expect(nested).toMatchObject({ replyTo: replyId, thread: id, content: "nested" });
  });
});

describe("THR-2: pages", () => {
  it("of replies go back from the newest one", async () => {
    const { ada, ben } = await cast();
    const id = await post(ada, "first");
    for (let at = 1; at <= 5; at++) {
      await post(ben, `reply ${at}`, id);
      await post(ben, "something else");
    }
    const newest = await ada.ask("thread", { id, limit: 2 });
    expect(newest).toMatchObject({ hasMore: true });
    expect(contents(newest.messages)).toEqual(["reply 4", "reply 5"]);
    const older = await ada.ask("thread", { id, limit: 3, before: newest.messages[0].seq });
    expect(older).toMatchObject({ hasMore: false });
    expect(contents(older.messages)).toEqual(["reply 1", "reply 2", "reply 3"]);
  });

  it("of threads begin with the newest reply, and name whoever replied last", async () => {
    const { ada, ben, cy } = await cast();
    const one = await post(ada, "one");
    const two = await post(ada, "two");
    await post(ben, "to two", two);
    await post(ben, "to one", one);
    await post(cy, "to one as well", one);
    const [first, second, ...none] = await threadsOf(ada);
    expect(none).toEqual([]);
    expect(first).toMatchObject({ id: one, replies: 2, people: ["cy", "ben"], last: { content: "to one as well" } });
    expect(second).toMatchObject({ id: two, replies: 1, people: ["ben"] });
    const page = await ada.ask("threads", { limit: 1 });
    expect(page).toMatchObject({ threads: [{ id: one }], hasMore: true, unread: 2 });
    const next = await ada.ask("threads", { limit: 1, before: page.threads[0].last.seq });
    expect(next).toMatchObject({ threads: [{ id: two }], hasMore: false, unread: 2 });
  });

  it("of a part of the history have all threads that begin there", async () => {
    const { ada, ben, cy } = await cast();
    const ids = [await post(ada, "one"), await post(ada, "two"), await post(ada, "three")];
    for (const id of ids) await post(ben, "reply", id);
    expect((await threadsOf(cy)).length, "none of them is cy's").toBe(0);
    const found = await threadsOf(cy, { from: 2, to: 3 });
    expect(found.map(({ seq, following, unread }) => [seq, following, unread])).toEqual([
      [3, false, 0],
      [2, false, 0],
    ]);
  });
});

describe("THR-3: what is new", () => {
  it("counts replies of others for those who wrote in the thread, until they read it", async () => {
    const { room, ada, ben, cy } = await cast();
    const id = await post(ada, "first");
    await post(ben, "one", id);
    await post(cy, "two", id);
    const unread = async (client: Client): Promise<number | undefined> => (await threadsOf(client))[0]?.unread;
    expect([await unread(ada), await unread(ben), await unread(cy)]).toEqual([2, 1, 0]);
    expect(await ada.ask("read-thread", { id, seq: 2 })).toEqual(OK);
    expect(await unread(ada)).toBe(1);
    const tab = await room.join("ada");
    expect(await ada.ask("read-thread", { id, seq: 3 })).toEqual(OK);
    for (const one of [ada, tab])
      expect(one.received("thread-seen").at(-1)).toEqual({ id, seenSeq: 3, following: true });
    expect(ben.received("thread-seen"), "is nobody else's business").toEqual([]);
    await ada.ask("read-thread", { id, seq: 2 });
    expect(await unread(ada), "a mark does not go back").toBe(0);
    await post(ben, "three", id);
    expect(await unread(ada)).toBe(1);
    await post(ada, "four", id);
    expect(await unread(ada), "who writes has seen it").toBe(0);
    expect(await ada.ask("threads", {})).toMatchObject({ unread: 0 });
  });

  it("is nothing of the room's own read mark", async () => {
    const { ada, ben } = await cast();
    const id = await post(ada, "first");
    await post(ben, "reply", id);
    await ada.ask("read", { seq: 2 });
    expect(await threadsOf(ada)).toMatchObject([{ unread: 1 }]);
  });

  it("is counted for followers, and not for those who left until they write", async () => {
    const { ada, ben, cy } = await cast();
    const id = await post(ada, "first");
    await post(ben, "before", id);
    await cy.ask("read-thread", { id, seq: 2 });
    expect(await threadsOf(cy), "reading follows nothing").toEqual([]);
    expect(await cy.ask("follow-thread", { id, on: true })).toEqual(OK);
    await ada.ask("follow-thread", { id, on: false });
    expect(ada.received("thread-seen")).toEqual([{ id, seenSeq: 2, following: false }]);
    await post(ben, "after", id);
    expect(await threadsOf(cy)).toMatchObject([{ unread: 1, following: true }]);
    expect(await threadsOf(ada)).toEqual([]);
    await post(ada, "back", id);
    await post(ben, "again", id);
    expect(await threadsOf(ada)).toMatchObject([{ unread: 1, following: true }]);
    await cy.ask("follow-thread", { id, on: false });
    expect(await threadsOf(cy)).toEqual([]);
  });

  it("survives sleep and costs a row for all marks of five seconds", async () => {
    const { room, ada, ben, cy } = await cast();
    const id = await post(ada, "first");
    await post(cy, "zero", id);
    for (let at = 0; at < 3; at++) await post(ben, "reply", id);
    await threadsOf(ada);
    room.shell.advance(MARKS_STORE_INTERVAL_MS);
    const { writes } = room.state;
    await ada.ask("read-thread", { id, seq: 3 });
    await ada.ask("read-thread", { id, seq: 4 });
    await cy.ask("read-thread", { id, seq: 4 });
    room.shell.advance(MARKS_STORE_INTERVAL_MS);
    expect(room.state.writes - writes).toBe(2);
    sleep(room);
    expect(await threadsOf(ada)).toMatchObject([{ unread: 1, seenSeq: 4 }]);
    expect(await threadsOf(cy)).toMatchObject([{ unread: 1, seenSeq: 4 }]);
  });

  it(`is kept for ${MARKS_PER_USER_MAX} threads of a user`, async () => {
    const { room, ada, ben } = await cast();
    const ids: string[] = [];
    for (let at = 0; at <= MARKS_PER_USER_MAX; at++) ids.push(await post(ben, "first"));
    for (const id of ids) {
      await post(ben, "before", id);
      expect(await ada.ask("follow-thread", { id, on: true })).toEqual(OK);
      await post(ben, "after", id);
      // Each costs tokens.
      room.shell.advance(200);
    }
    expect(await ada.ask("threads", {}), "the first one made room").toMatchObject({ unread: MARKS_PER_USER_MAX });
  });

  it("of more threads than have marks stays seen, and what comes then is new", async () => {
    const { room, ada, ben } = await cast();
    const ids: string[] = [];
    for (let at = 0; at < MARKS_PER_USER_MAX + 5; at++) ids.push(await post(ada, "first"));
    for (const id of ids) {
      await post(ben, "reply", id);
      await ada.ask("read-thread", { id, seq: room.log.lastSeq });
      room.shell.advance(200);
    }
    expect(await ada.ask("threads", {})).toMatchObject({ unread: 0 });
    room.shell.advance(MARKS_STORE_INTERVAL_MS);
    sleep(room);
    await post(ben, "another", ids[0]);
    expect(await ada.ask("threads", { limit: 1 })).toMatchObject({ unread: 1, threads: [{ id: ids[0], unread: 1 }] });
  });

  it("refuses marks of what is not there", async () => {
    const { ada } = await cast();
    const id = await post(ada, "first");
    expect(await ada.ask("read-thread", { id, seq: 2 })).toMatchObject({ error: { code: "INVALID_PAYLOAD" } });
    expect(await ada.ask("read-thread", { id: "other-1", seq: 1 })).toMatchObject({ error: { code: "NOT_FOUND" } });
  });
});

describe("THR-4: what goes", () => {
  it("a deleted reply counts nowhere, a deleted first message keeps its thread", async () => {
    const { ada, ben } = await cast();
    const id = await post(ada, "first");
    const gone = await post(ben, "gone", id);
    await post(ben, "stays", id);
    expect(await threadsOf(ada)).toMatchObject([{ replies: 2, unread: 2 }]);
    await ben.ask("delete-message", { id: gone });
    await ada.ask("delete-message", { id });
    expect(await threadsOf(ada)).toMatchObject([{ replies: 1, unread: 1, first: { deleted: true } }]);
    expect(contents((await ada.ask("thread", { id })).messages)).toEqual(["stays"]);
  });

  it("a dropped first message leaves the replies that are kept", async () => {
    const { room, ada, ben } = await cast();
    room.log.retention = { messages: 10, ageMs: Infinity };
    const id = await post(ada, "first");
    await post(ben, "old", id);
    await post(ben, "kept", id);
    await ada.ask("follow-thread", { id, on: false });
    await ada.ask("follow-thread", { id, on: true });
    expect(await threadsOf(ada)).toMatchObject([{ replies: 2, first: { content: "first" } }]);
    for (let at = 0; at < 9; at++) await post(ben, "more");
    expect(room.log.firstSeq).toBe(3);
    room.shell.advance(MARKS_STORE_INTERVAL_MS);
    for (const _woken of [false, true]) {
      const [thread] = await threadsOf(ada);
      expect(thread).toMatchObject({ id, replies: 1, people: ["ben"] });
      expect(thread).not.toHaveProperty("first");
      expect(contents((await ada.ask("thread", { id })).messages)).toEqual(["kept"]);
      sleep(room);
    }
    for (let at = 0; at < 9; at++) await post(ben, "more");
    expect(await threadsOf(ada), "nothing is left").toEqual([]);
    expect(await ada.ask("thread", { id })).toMatchObject({ error: { code: "NOT_FOUND" } });
  });
});

describe("THR-5: what it costs", () => {
  it("a post nothing, a question one row for a full part of the log, and the next one after sleep nothing", async () => {
    const { room, ada, ben } = await cast();
    const id = await post(ada, "first");
    const reply = await post(ben, "reply", id);
    fill(room, PART_SEQS);
    await post(ben, "last reply", id);
    room.quiet();
    const { writes } = room.state;
    const asking = room.call("threads", "ada", {}, "member");
    await room.pass(10_000);
    expect(asking.answer).toMatchObject({ threads: [{ replies: 2, unread: 2 }] });
    expect(room.state.writes - writes).toBe(1);
    sleep(room);
    const again = await threadsOf(ada);
    expect(again, "needs no second turn").toMatchObject([{ replies: 2 }]);
    expect(room.state.writes - writes).toBe(1);
    await ben.ask("delete-message", { id: reply });
    sleep(room);
    expect(await threadsOf(ada), "a deleted reply is in no row").toMatchObject([{ replies: 1, unread: 1 }]);
  });

  it("a long log is read in turns", async () => {
    const { room, ada } = await cast();
    fill(room, 2 * SLICE_MESSAGES);
    const asking = room.call("threads", "ada", {}, "member");
    expect(asking.answer).toBeUndefined();
    const presence = await ada.ask("presence", {});
    expect(presence, "others are answered meanwhile").toMatchObject(OK);
    await room.pass(5000);
    expect(asking.answer).toEqual({ ok: true, threads: [], unread: 0, hasMore: false });
  });
});

it("THR-6: who lists the threads of a room pays as for searches, and waits after too many", async () => {
  const readAllowance = new ReadAllowance();
  const room = new ChatRoom({ messageRate: UNLIMITED, flushWindowMs: 0 }, {}, { readAllowance });
  const ada = await room.join("ada");
  for (let at = 0; at < 9; at++) await post(ada, "reply", await post(ada, "first"));
  const pay = (looked: number): void => readAllowance.pay("ada", { looked, reckoned: 0 }, room.shell.nowMs);
  expect(await ada.ask("threads", {})).toMatchObject(OK);
  room.shell.advance(60_000);
  pay(READ_MESSAGES_LIMIT.burst - 3);
  expect(await ada.ask("threads", {}), "looks at nine threads").toMatchObject(OK);
  expect(await ada.ask("threads", {})).toMatchObject({ error: { code: "RATE_LIMITED" } });
  expect(await ada.ask("thread", { id: "e1-1" })).toMatchObject(OK);
  room.shell.advance(1000);
  expect(await ada.ask("threads", {})).toMatchObject(OK);
});

it("in a room that grew beyond one object, members of shards ask, read and follow, and their other tabs hear of it", async () => {
  const { big, ada, ben } = await hall();
  const tab = await big.join("ben", 1);
  const answerOf = async (client: Client, event: string, payload: object) => {
    const call = client.call(event, payload);
    await big.pass(1000);
    return call.answer;
  };
  const { id } = await answerOf(ben, "chat-message", { content: "first" });
  await answerOf(ada, "chat-message", { content: "reply", replyTo: id });
  expect(await answerOf(ben, "threads", {})).toMatchObject({ threads: [{ id, replies: 1, unread: 1 }], unread: 1 });
  expect(await answerOf(tab, "thread", { id })).toMatchObject({ messages: [{ content: "reply" }] });
  expect(await answerOf(tab, "read-thread", { id, seq: 2 })).toEqual(OK);
  expect(await answerOf(ben, "follow-thread", { id, on: false })).toEqual(OK);
  for (const one of [ben, tab])
    expect(one.received("thread-seen")).toEqual([
      { id, seenSeq: 2, following: true },
      { id, seenSeq: 2, following: false },
    ]);
  expect(ada.received("thread-seen")).toEqual([]);
});

it("THR-6: so many questions of one user wait, and one more is refused", async () => {
  const { room, ada } = await cast();
  fill(room, (WAITING_PER_USER_MAX + 2) * SLICE_MESSAGES);
  const ask = () => room.call("threads", "ada", {}, "member");
  const waiting = Array.from({ length: WAITING_PER_USER_MAX }, ask);
  expect(ask().answer).toMatchObject({ error: { code: "RATE_LIMITED", retryAfterMs: 1000 } });
  await room.pass(10_000);
  for (const { answer } of waiting) expect(answer).toMatchObject(OK);
  expect(await ada.ask("threads", {})).toMatchObject(OK);
});
