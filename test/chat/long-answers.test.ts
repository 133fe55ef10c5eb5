// MSG-11: answers come in pieces that any connection can take, however long the messages are.
import { beforeAll, describe, expect, it } from "vitest";

import { ANSWER_BYTES_MAX, fitFirst, fitLast } from "../../src/chat/room/fitting.ts";
import { Chat } from "../../src/chat/chat.ts";
import { ReadAllowance } from "../../src/chat/room/read-allowance.ts";
import type { Message } from "../../src/protocol/chat-events.ts";
import { POLL_QUEUE_BYTES_MAX } from "../../src/socketio/engine/poll-queue.ts";
import { Server } from "../../src/socketio/server/server.ts";
import { ChatRoom, identityOf, ROOM, SETTINGS, UNLIMITED } from "../host/chat-room.ts";
import type { AnyAnswer, Client } from "../host/client.ts";
import { OPTIONS } from "../host/harness.ts";
import { SEPARATOR, WireClient } from "../wire/wire-client.ts";

const POSTS = 300;
const CONTENT_CHARS_MAX = 1500;

/** Four bytes of JSON a character, which is the most that a content has. */
const heavy = (length: number): string => "\u{1f98a}".repeat(length);

const bytesOf = (value: unknown): number => new TextEncoder().encode(JSON.stringify(value)).byteLength;

const seqsOf = (messages: readonly Message[]): number[] => messages.map(({ seq }) => seq);

const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, i) => from + i);

let room: ChatRoom;
let ada: Client;
let ids: string[];

beforeAll(async () => {
  room = new ChatRoom({ messageRate: UNLIMITED, maxContentLength: CONTENT_CHARS_MAX });
  ada = await room.join({ user: "ada", role: "moderator" });
  const posts = range(1, POSTS).map((seq) =>
    ada.call("chat-message", { content: `w${seq}${heavy(CONTENT_CHARS_MAX - 10)}.w` }),
  );
  room.quiet();
  ids = posts.map(({ answer }) => answer.id as string);
});

async function ask(event: string, payload: object): Promise<AnyAnswer> {
  room.quiet();
  room.shell.advance(10_000);
  const call = ada.call(event, payload);
  room.quiet();
  const { answer } = call;
  expect(answer).toMatchObject({ ok: true });
  return answer;
}

describe("a list in an answer", () => {
  it.each([
    ["history", { limit: 200 }],
    ["history", { after: 0, limit: 200 }],
    ["history", { before: 250, limit: 200 }],
    ["history", { afterTime: 0, limit: 200 }],
    ["history", { beforeTime: 4e12, limit: 200 }],
    ["history", { around: 150, limit: 200 }],
    ["search", { from: "ada", limit: 50 }],
  ])(
    "of %s %j has 262,144 bytes at most, says that there is more, and is nearly full: MSG-11",
    async (event, query) => {
      const { messages, hasMore } = await ask(event, query);
      expect(hasMore).toBe(true);
      expect(bytesOf(messages)).toBeLessThanOrEqual(ANSWER_BYTES_MAX);
      expect(bytesOf(messages)).toBeGreaterThan(ANSWER_BYTES_MAX - 4 * 6100);
    },
  );

  it("is cut at the end that the question goes to", async () => {
    const { messages: back } = await ask("history", { before: 201, limit: 200 });
    expect(seqsOf(back)).toEqual(range(201 - back.length, 200));
    const { messages: forth } = await ask("history", { after: 100, limit: 200 });
    expect(seqsOf(forth)).toEqual(range(101, 100 + forth.length));
    const around = await ask("history", { around: 150, limit: 200 });
    const seqs = seqsOf(around.messages);
    expect(seqs).toEqual(range(seqs[0]!, seqs.at(-1)!));
    expect(Math.abs(150 - (seqs[0]! + seqs.at(-1)!) / 2)).toBeLessThanOrEqual(1);
    expect(around).toMatchObject({ hasMore: true, hasMoreAfter: true });
  });

  it("can be walked to its end, each message once", async () => {
    const forth: number[] = [];
    for (let hasMore = true; hasMore;) {
      const page = await ask("history", { after: forth.at(-1) ?? 0, limit: 200 });
      forth.push(...seqsOf(page.messages));
      ({ hasMore } = page);
    }
    expect(forth).toEqual(range(1, POSTS));
    const back: number[] = [];
    for (let hasMore = true; hasMore;) {
      const page = await ask("history", { ...(back[0] !== undefined && { before: back[0] }), limit: 200 });
      back.unshift(...seqsOf(page.messages));
      ({ hasMore } = page);
    }
    expect(back).toEqual(range(1, POSTS));
    const found: number[] = [];
    for (let hasMore = true, before: number | undefined; hasMore;) {
      const page = await ask("search", { query: '"w"', limit: 50, ...(before !== undefined && { before }) });
      found.push(...seqsOf(page.messages));
      ({ hasMore, before } = page);
    }
    expect(found).toEqual(range(1, POSTS).reverse());
  });

  it("of changes goes on where it was cut", async () => {
    for (const id of ids) ada.emit("react", { id, emoji: "+", on: true });
    for (const id of ids) {
      room.shell.advance(1000);
      ada.emit("react", { id, emoji: "-", on: true });
    }
    const seqs: number[] = [];
    for (let rev = 0, hasMore = true; hasMore;) {
      const page = await ask("changes", { after: rev, limit: 200 });
      expect(bytesOf(page.messages)).toBeLessThanOrEqual(ANSWER_BYTES_MAX);
      seqs.push(...seqsOf(page.messages));
      ({ hasMore, rev } = page);
    }
    expect([...new Set(seqs)].sort((a, b) => a - b)).toEqual(range(1, POSTS));
    expect(seqs).toHaveLength(POSTS);
  });

  it("of moderation is cut, too, and goes on", async () => {
    const users = range(1, 200).map((n) => `${"\ud800".repeat(100)}${String(n).padStart(3, "0")}`);
    for (const user of users) {
      await ask("ban", { user, reason: heavy(300) });
      await ask("mute", { user, reason: heavy(300), seconds: 1e6 });
    }
    const listed: string[] = [];
    for (let hasMore = true; hasMore;) {
      const page = await ask("moderation-state", { ...(listed.length > 0 && { after: listed.at(-1) }), limit: 200 });
      expect(bytesOf(page.users)).toBeLessThanOrEqual(ANSWER_BYTES_MAX);
      listed.push(...page.users.map(({ user }: { user: string }) => user));
      ({ hasMore } = page);
    }
    expect(listed).toEqual(users);
    const numbers: number[] = [];
    for (let hasMore = true; hasMore;) {
      const page = await ask("audit", { ...(numbers.length > 0 && { before: numbers[0] }), limit: 200 });
      expect(bytesOf(page.entries)).toBeLessThanOrEqual(ANSWER_BYTES_MAX);
      numbers.unshift(...page.entries.map(({ number }: { number: number }) => number));
      ({ hasMore } = page);
    }
    expect(numbers).toEqual(range(1, 400));
  });
});

describe("an answer without a further page", () => {
  it("leaves out the oldest versions of a message", async () => {
    const long = new ChatRoom({ messageRate: UNLIMITED, maxContentLength: 15_000 });
    const eve = await long.join({ user: "eve", role: "moderator" });
    const { id } = await eve.ask("chat-message", { content: "first" });
    for (let n = 1; n <= 7; n++) {
      long.shell.advance(10_000);
      eve.emit("edit-message", { id, content: `${n}${heavy(14_998)}.` });
    }
    const { versions, hasMore } = await eve.ask("versions", { id });
    expect(hasMore).toBe(true);
    expect(versions.map(({ content }: { content: string }) => content[0])).toEqual(["4", "5", "6", "7"]);
    expect(bytesOf(versions)).toBeLessThanOrEqual(ANSWER_BYTES_MAX);
    long.shell.advance(10_000);
    const one = await eve.ask("chat-message", { content: "short" });
    expect(await eve.ask("versions", { id: one.id })).not.toHaveProperty("hasMore");
  });

  it("names fewer users of each reaction, and all emoji", async () => {
    const many = new ChatRoom({ messageRate: UNLIMITED });
    const eve = await many.join("eve");
    const { id } = await eve.ask("chat-message", { content: "hello" });
    const react = (user: string, emoji: string): void => void many.call("react", user, { id, emoji, on: true });
    for (let n = 0; n < 900; n++) react(`${"\ud800".repeat(120)}${n}`, "+");
    const { reactions, hasMore } = await eve.ask("reactions", { id });
    expect(hasMore).toBe(true);
    expect(reactions[0].count).toBe(900);
    expect(reactions[0].users.length).toBeGreaterThan(100);
    expect(bytesOf(reactions)).toBeLessThanOrEqual(ANSWER_BYTES_MAX);
  });
});

/** A polling client of a room, which polls after each packet that it sends. */
class Poller extends WireClient<AnyAnswer> {
  constructor() {
    super({ send: (frame) => post(frame as string), close: () => post("1") });
    const chat = new Chat({
      room: ROOM,
      log: room.log,
      state: room.state,
      handedIn: room.handedIn,
      readAllowance: new ReadAllowance(),
      settings: SETTINGS,
    });
    let ids = 0;
    const server = new Server(
      { ...OPTIONS, transports: ["polling"] },
      { static: { "/": chat } },
      {
        now: () => room.shell.nowMs,
        newId: () => `polling-${++ids}`,
        phase: 0,
        apply: (effects) => {
          for (const effect of effects) {
            if (effect.type === "answer-poll")
              for (const packet of effect.payload.split(SEPARATOR)) this.receive(packet);
            if (effect.type === "close") this.end(effect.closing);
          }
        },
        lastPongAtMs: () => undefined,
        tokens: { room: ROOM, opens: () => true, authenticate: () => Promise.reject(new Error("no tokens here")) },
        report: (problem, error) => {
          throw new Error(problem, { cause: error });
        },
      },
    );
    server.wake();
    const handshake = { address: "192.0.2.1", query: {}, issued: room.shell.nowMs, identity: identityOf("bob") };
    const session = server.open(handshake, "polling");
    const post = (frame: string): void => {
      server.endPost(session, frame);
      if (!this.closed) server.poll(session);
    };
    this.send("40{}");
  }
}

describe("a polling client", () => {
  it("stays connected through the longest page of history", () => {
    // The size of the whole page, for which the client was closed.
    expect(bytesOf(room.log.messages.slice(-200))).toBeGreaterThan(POLL_QUEUE_BYTES_MAX);
    const poller = new Poller();
    expect(poller.call("history", { limit: 200 }).answer).toMatchObject({ ok: true, hasMore: true });
    expect(poller.closed).toBeUndefined();
    expect(poller.call("changes", { after: 0, limit: 200 }).answer).toMatchObject({ ok: true, hasMore: true });
    expect(poller.closed).toBeUndefined();
  });
});

describe("fitting", () => {
  // Brackets, quotes, and a comma between the two.
  it.each([
    [9, 2],
    [8, 1],
    [1, 1],
  ])("counts every byte: of two strings of one letter in %i bytes fit %i", (bytesMax, count) => {
    expect(fitFirst(["a", "b"], { bytesMax })).toEqual(["a", "b"].slice(0, count));
    expect(fitLast(["a", "b"], { bytesMax })).toEqual(["a", "b"].slice(-count));
  });

  it("counts bytes, not characters, and takes a large item alone", () => {
    expect(fitFirst(["é", "b"], { bytesMax: 9 })).toEqual(["é"]);
    expect(fitFirst(["far too long", "b"], { bytesMax: 4 })).toEqual(["far too long"]);
    expect(fitFirst(["a", "b"], { bytesMax: 4, countMin: 0 })).toEqual([]);
    expect(fitLast([])).toEqual([]);
  });
});
