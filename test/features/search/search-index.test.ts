// Searching a long history: when messages are indexed, the cost of that, and that results do not depend on the index.
import { describe, expect, it } from "vitest";

import { messageId } from "../../../src/protocol/message.ts";
import type { IndexShape } from "../../../src/features/search/search-index.ts";
import { SEARCHES_MAX, SEARCHES_PER_USER_MAX, SEARCH_MESSAGES_MAX } from "../../../src/features/search/searching.ts";
import type { FoundMessage, Message } from "../../../src/protocol/chat-events.ts";
import { shutdownNotice } from "../../../src/chat/room/notices.ts";
import { ChatRoom, ROOM, UNLIMITED } from "../../host/chat-room.ts";
import { EPOCH } from "../../host/memory-log.ts";
import { START_MS, type Call, type Client } from "../../host/harness.ts";

const SHAPE: IndexShape = {
  blockMessages: 4,
  blockChars: 1e6,
  partMessages: 16,
  unindexedMessages: 8,
  gapMessagesMin: 3,
  partUnits: 1e6,
  partsMax: 100,
};
const MESSAGES = 100;
/** Parts of `SHAPE` that so many messages have, when all are indexed that can be. */
const PARTS = Math.floor((MESSAGES - SHAPE.unindexedMessages) / SHAPE.partMessages);

function fill(room: ChatRoom, count: number, contentOf: (seq: number) => string): void {
  const message = (seq: number): Message => {
    const author = { sender: "ada", name: "ada", content: contentOf(seq) };
    return { id: messageId(EPOCH, seq), seq, room: ROOM, ...author, timestamp: START_MS };
  };
  for (let from = room.log.lastSeq + 1, end = from + count; from < end; from += 64)
    room.log.append(Array.from({ length: Math.min(64, end - from) }, (_, i) => message(from + i)));
}

/** Every message has its own place as text, every tenth one a further word. */
async function longRoom(shape = SHAPE, messages = MESSAGES): Promise<{ room: ChatRoom; ada: Client }> {
  const room = new ChatRoom({ messageRate: UNLIMITED });
  room.index.shape = shape;
  fill(room, messages, (seq) => `place ${seq}${seq % 10 === 0 ? " round" : ""}`);
  const ada = await room.join("ada");
  return { room, ada };
}

/** Waits for further turns. */
function search(room: ChatRoom, client: Client, payload: object): { messages: FoundMessage[]; hasMore: boolean } {
  const call = client.call("search", payload);
  for (let turns = 0; call.acks.length === 0 && turns < 1000; turns++) room.shell.advance(10);
  return call.answer;
}

const seqsOf = ({ messages }: { messages: FoundMessage[] }): number[] => messages.map(({ seq }) => seq);
const ROUND = [100, 90, 80, 70, 60, 50, 40, 30, 20, 10];

describe("SRCH-5: a search that takes several turns", () => {
  it("answers completely, and other events run between its turns", async () => {
    const { room, ada } = await longRoom();
    const first = ada.call("search", { query: "round" });
    const second = ada.call("search", { query: "place 1 " });
    expect(first.acks).toEqual([]);
    const short = ada.call("search", { query: "place 99" });
    const recent = ada.call("search", { query: "99", limit: 1 });
    expect(seqsOf(recent.answer)).toEqual([99]);
    expect(room.shell.canSleep).toBe(false);
    room.quiet();
    expect(seqsOf(first.answer)).toEqual(ROUND);
    expect(seqsOf(second.answer)).toEqual([1]);
    expect(seqsOf(short.answer)).toEqual([99]);
    for (const { answer } of [first, second, short]) expect(answer).toMatchObject({ hasMore: false, before: 1 });
    expect(room.shell.quietMs).toBeGreaterThan(1000);
  });

  // The costs of words have been measured. This test holds the number of messages, and no time.
  it.each<[what: string, content: string, query: string, messagesMax: number]>([
    ["plain words", "a b ", "zzz ", 50],
    ["the same word 31 times", "a b ", `${"a ".repeat(31)}zzz `, 35],
    ["phrases that begin alike", "a ", `"a" "a a" "a a a" "a a a a" "a a a a a" "a a a a a a" zzz `, 7],
    ["words that begin alike", "abcdefghi ", `${"abcdefghi".replace(/./g, "$`$&* ")}zzz `, 14],
    ["accents", "é ", "zzz ", 10],
    ["characters that stand for many", "\ufdfa ", "zzz ", 10],
    ["scripts that are folded word by word", "हि ", "zzz ", 5],
    ["marks without end", `क${"\u093c\u094d".repeat(499)}`, "zzz ", 10],
  ])("%s: one turn reaches as far as the effort allows", async (_what, content, query, messagesMax) => {
    const room = new ChatRoom();
    fill(room, 1000, () => content.repeat(1000 / content.length));
    const asked = room.call("search", "ada", { query });
    room.chat.calls.prepareShutdown(() => shutdownNotice("ada", 0));
    const { before } = asked.answer as unknown as { before: number };
    expect(1001 - before).toBeLessThanOrEqual(messagesMax);
    expect(1001 - before).toBeGreaterThan(messagesMax / 3);
  });

  it("indexes messages that are much work in smaller parts", async () => {
    const room = new ChatRoom();
    fill(room, 4000, () => "हि ".repeat(30));
    const ada = await room.join("ada");
    search(room, ada, { query: "zzz " });
    const lengths = room.index.parts.map(({ firstSeq, lastSeq }) => lastSeq - firstSeq + 1);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(150);
    expect(lengths.reduce((sum, length) => sum + length)).toBeGreaterThan(900);
  });

  it("leaves older messages than it may read to the next search, with `hasMore`", async () => {
    const room = new ChatRoom();
    // As if the log were long: all messages are at its end.
    fill(room, 2, () => "old");
    room.log.skip(SEARCH_MESSAGES_MAX + 10_000);
    fill(room, 1, () => "new");
    const ada = await room.join("ada");
    const first = search(room, ada, { query: "old" });
    expect(first).toMatchObject({ messages: [], hasMore: true });
    const { before } = first as unknown as { before: number };
    expect(before).toBeGreaterThan(2);
    expect(search(room, ada, { query: "old", before })).toMatchObject({ messages: { length: 2 }, hasMore: false });
  });

  it("is RATE_LIMITED where too many are under way", async () => {
    const { room, ada } = await longRoom();
    const calls: Array<Call<{ error?: { code: string; retryAfterMs: number } }>> = [];
    for (let i = 0; i < SEARCHES_MAX + 1; i++) {
      calls.push((await room.join(`user-${i}`)).call("search", { query: "nowhere" }));
    }
    expect(calls.filter(({ acks }) => acks.length > 0)).toHaveLength(1);
    expect(calls.at(-1)!.answer.error).toMatchObject({ code: "RATE_LIMITED", retryAfterMs: expect.any(Number) });
    room.quiet();
    for (const { answer } of calls.slice(0, -1)) expect(answer).toMatchObject({ ok: true, messages: [] });
    expect(seqsOf(search(room, ada, { query: "round" }))).toEqual(ROUND);
  });

  it("is RATE_LIMITED where one user has too many, and for that user only", async () => {
    const { room, ada } = await longRoom();
    const calls = Array.from({ length: SEARCHES_PER_USER_MAX + 1 }, () => ada.call("search", { query: "nowhere" }));
    expect(calls.at(-1)!.answer).toMatchObject({ error: { code: "RATE_LIMITED", retryAfterMs: expect.any(Number) } });
    const ben = (await room.join("ben")).call("search", { query: "round" });
    room.quiet();
    for (const { answer } of calls.slice(0, -1)) expect(answer).toMatchObject({ ok: true });
    expect(seqsOf(ben.answer)).toEqual(ROUND);
  });

  it("CHAT-10: ten users with as many as they may have leave searches for others, and their slices go round", async () => {
    const { room, ada } = await longRoom();
    const calls: Array<Call<{ error?: object }>> = [];
    for (let user = 0; user < 10; user++) {
      const client = await room.join(`user-${user}`);
      for (let at = 0; at < SEARCHES_PER_USER_MAX; at++) calls.push(client.call("search", { query: "nowhere" }));
    }
    const one = ada.call("search", { query: "round" });
    expect(one.acks, "it is under way").toEqual([]);
    for (let user = 0; user < 10; user++)
      expect(calls[user * SEARCHES_PER_USER_MAX]!.acks, `the first one of user ${user}`).toEqual([]);
    room.shell.journal.length = 0;
    room.quiet();
    expect(seqsOf(one.answer)).toEqual(ROUND);
    const order = room.shell.journal.flatMap((line) => /^(user-\d|ada)<43/.exec(line)?.[1] ?? []);
    expect(order.length).toBeGreaterThan(20);
    // Hers needs as many slices as each of theirs: without turns of the users, all of those that began before would have been first.
    expect(order.indexOf("ada")).toBeLessThanOrEqual(10);
  });

  it("CHAT-10: guests of one network are one user, and leave half of the searches to accounts", async () => {
    const { room, ada } = await longRoom();
    const call = async (user: string, address: string) =>
      (await room.join({ user, isGuest: true }, { address })).call("search", { query: "nowhere" });
    const calls = [];
    for (let at = 0; at < 50; at++) calls.push(await call(`guest ${at}`, "2001:db8:1:2::" + at));
    expect(calls.filter(({ acks }) => acks.length === 0)).toHaveLength(SEARCHES_PER_USER_MAX);
    for (let at = 0; at < 50; at++) calls.push(await call(`more ${at}`, `192.0.2.${at}`));
    expect(calls.filter(({ acks }) => acks.length === 0)).toHaveLength(SEARCHES_MAX / 2);
    expect(ada.call("search", { query: "round" }).acks).toEqual([]);
    room.quiet();
  });

  it("does no work for a connection that is gone", async () => {
    const { room, ada } = await longRoom();
    ada.call("search", { query: "round" });
    const before = room.index.rowsWritten;
    ada.leave();
    room.quiet();
    expect(room.index.rowsWritten).toBe(before);
    expect(room.shell.quietMs).toBeGreaterThan(1000);
  });

  it("is answered with the messages found so far when the room disconnects everyone: API-9, API-10", async () => {
    const { room } = await longRoom();
    const asked = room.call("search", "backend", { query: "round" });
    expect(asked.answer).toBeUndefined();
    room.chat.calls.prepareShutdown(() => ({ code: "SERVER_SHUTDOWN", message: "" }));
    expect(asked.answer).toMatchObject({ ok: true, hasMore: true });
    room.quiet();
  });

  it("answers with messages as they stand in the end: SRCH-6", async () => {
    const { room, ada } = await longRoom();
    const [round, places] = [{ query: "round" }, { query: "place", limit: 50 }].map((q) => ada.call("search", q));
    expect([...round!.acks, ...places!.acks]).toEqual([]);
    const mona = await room.join({ user: "mona", role: "moderator" });
    await mona.ask("edit-message", { id: messageId(EPOCH, 100), content: "flat" });
    await mona.ask("react", { id: messageId(EPOCH, 90), emoji: "👍", on: true });
    for (const seq of [20, 95]) await mona.ask("delete-message", { id: messageId(EPOCH, seq) });
    room.quiet();
    expect(seqsOf(round!.answer)).toEqual(ROUND.filter((seq) => seq !== 100 && seq !== 20));
    expect(round!.answer).toMatchObject({ messages: { 0: { seq: 90, reactions: [{ emoji: "👍", count: 1 }] } } });
    expect(seqsOf(places!.answer).slice(0, 5)).toEqual([99, 98, 97, 96, 94]);
  });

  it("goes on where the room drops the messages that it searches: CHAT-8", async () => {
    const { room, ada } = await longRoom();
    const call = ada.call("search", { query: "round" });
    room.log.retention = { messages: 5, ageMs: Infinity };
    ada.emit("chat-message", { content: "a new one" });
    room.quiet();
    expect(seqsOf(call.answer)).toEqual([100]);
    expect(call.answer).toMatchObject({ hasMore: false });
  });
});

describe("SRCH-7: the index", () => {
  it("is written once, by the first search that goes back so far", async () => {
    const { room, ada } = await longRoom();
    expect(seqsOf(search(room, ada, { query: "100" }))).toEqual([100]);
    expect(room.index.parts).toHaveLength(PARTS);
    const { rowsWritten } = room.index;
    expect(rowsWritten).toBe(PARTS * (SHAPE.partMessages / SHAPE.blockMessages + 1));
    for (const query of ["round", "place", "nowhere", "100"]) search(room, ada, { query });
    room.quiet();
    room.shell.evict();
    expect(seqsOf(search(room, ada, { query: "round" }))).toEqual(ROUND);
    expect(room.index.rowsWritten).toBe(rowsWritten);
  });

  it("is not written by a search that finds enough among the newest messages", async () => {
    const { room, ada } = await longRoom();
    expect(seqsOf(search(room, ada, { query: "place", limit: 5 }))).toEqual([100, 99, 98, 97, 96]);
    expect(room.index).toMatchObject({ rowsWritten: 0, parts: [] });
  });

  it("is not written without a search", async () => {
    const room = new ChatRoom({ messageRate: UNLIMITED });
    room.index.shape = SHAPE;
    const ada = await room.join("ada");
    for (let i = 0; i < MESSAGES; i++) ada.emit("chat-message", { content: `${i}` });
    room.quiet();
    await ada.ask("edit-message", { id: messageId(EPOCH, 1), content: "changed" });
    await ada.ask("delete-message", { id: messageId(EPOCH, 2) });
    expect(room.index).toMatchObject({ rowsWritten: 0, parts: [] });
  });

  it("keeps nothing of deleted messages, and finds edited ones", async () => {
    const { room, ada } = await longRoom();
    search(room, ada, { query: "nowhere" });
    expect(room.index.terms).toContain("20");
    await ada.ask("delete-message", { id: messageId(EPOCH, 20) });
    expect(room.index.terms).not.toContain("20");
    await ada.ask("edit-message", { id: messageId(EPOCH, 40), content: "a hexagon" });
    room.quiet();
    room.shell.evict();
    expect(seqsOf(search(room, ada, { query: "20" }))).toEqual([]);
    expect(seqsOf(search(room, ada, { query: "hexagon" }))).toEqual([40]);
    expect(seqsOf(search(room, ada, { query: "40" }))).toEqual([]);
    expect(room.index.parts).toHaveLength(PARTS);
    expect(room.index.terms).not.toContain("20");
  });

  it("does not change with reactions", async () => {
    const { room, ada } = await longRoom();
    search(room, ada, { query: "nowhere" });
    const { rowsWritten } = room.index;
    await ada.ask("react", { id: messageId(EPOCH, 20), emoji: "👍", on: true });
    expect(search(room, ada, { query: "20" })).toMatchObject({ messages: [{ reactions: [{ emoji: "👍" }] }] });
    expect(room.index.rowsWritten).toBe(rowsWritten);
  });

  it("drops messages as soon as the log does: CHAT-8", async () => {
    const { room, ada } = await longRoom();
    search(room, ada, { query: "nowhere" });
    room.log.retention = { messages: 45, ageMs: Infinity };
    ada.emit("chat-message", { content: "a new one" });
    expect(room.index.terms.map(Number).filter((seq) => seq < room.log.firstSeq)).toEqual([]);
    expect(room.index.parts.length).toBeGreaterThan(0);
    expect(search(room, ada, { query: "round" })).toMatchObject({ messages: { length: 5 }, hasMore: false });
  });

  it("is cut smaller where messages are long, and takes more turns then", async () => {
    const { room, ada } = await longRoom({ ...SHAPE, partUnits: 80 });
    expect(seqsOf(search(room, ada, { query: "round" }))).toEqual(ROUND);
    // Messages of some eight characters: eleven have more than eighty.
    const lengths = room.index.parts.map(({ firstSeq, lastSeq }) => lastSeq - firstSeq + 1);
    expect(Math.max(...lengths)).toBe(11);
    const written = room.index.rowsWritten;
    expect(seqsOf(search(room, ada, { query: "round" }))).toEqual(ROUND);
    expect(room.index.rowsWritten).toBe(written);
  });

  it("has a bounded number of parts, those of the newest messages", async () => {
    const { room, ada } = await longRoom({ ...SHAPE, partsMax: 2 });
    expect(seqsOf(search(room, ada, { query: "round" }))).toEqual(ROUND);
    expect(room.index.parts.map(({ firstSeq }) => firstSeq)).toEqual([49, 65]);
    fill(room, 40, (seq) => `place ${seq}`);
    expect(seqsOf(search(room, ada, { query: "round" }))).toEqual(ROUND);
    expect(room.index.parts).toHaveLength(2);
    expect(room.index.parts.at(-1)!.firstSeq).toBeGreaterThan(100);
  });

  it("is left out where it fails, and the failure is reported", async () => {
    const { room, ada } = await longRoom();
    room.index.failure = new Error("disk full");
    expect(seqsOf(search(room, ada, { query: "round" }))).toEqual(ROUND);
    expect(room.shell.problems).toMatchObject([{ problem: "the search index could not be used" }]);
    room.index.failure = undefined;
    search(room, ada, { query: "nowhere" });
    room.index.failure = new Error("damaged");
    expect(seqsOf(search(room, ada, { query: "round" }))).toEqual(ROUND);
    expect(await ada.ask("delete-message", { id: messageId(EPOCH, 10) })).toMatchObject({
      error: { code: "INTERNAL" },
    });
    expect(room.log.find(10)?.change).toBeUndefined();
  });
});
