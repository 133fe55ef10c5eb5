// Exports of a room: how many may be under way, the turns of their chunks, what they cost, and readers who may not read any more.
import { describe, expect, it } from "vitest";

import {
  EXPORT_IDLE_MS,
  EXPORTS_MAX,
  EXPORTS_PER_USER_MAX,
  type ChunkAnswer,
} from "../../../src/chat/messages/exporting.ts";
import { READ_MESSAGES_LIMIT, ReadAllowance } from "../../../src/chat/room/read-allowance.ts";
import { messageId } from "../../../src/protocol/message.ts";
import type { Message, Role } from "../../../src/protocol/chat-events.ts";
import { ChatRoom, ROOM, UNLIMITED } from "../../host/chat-room.ts";
import { START_MS, type Client } from "../../host/harness.ts";
import { refusalOf } from "../../host/moderated-room.ts";
import { EPOCH } from "../../host/memory-log.ts";

/** Some 40 chunks of messages that are long. */
function longRoom(messages = 10_000, readAllowance = new ReadAllowance()): ChatRoom {
  const room = new ChatRoom({ messageRate: UNLIMITED }, {}, { readAllowance });
  const message = (seq: number): Message => ({
    id: messageId(EPOCH, seq),
    seq,
    room: ROOM,
    sender: "ada",
    name: "ada",
    content: `${seq} ${"x".repeat(900)}`,
    timestamp: START_MS,
  });
  room.log.append(Array.from({ length: messages }, (_, at) => message(at + 1)));
  return room;
}

type Chunk = Extract<ChunkAnswer, { lines: string }>;

/** A reader over HTTP. */
class Reader {
  readonly #room: ChatRoom;
  readonly #bearer: { user: string; name: string; role: Role };
  answers: ChunkAnswer[] = [];

  constructor(room: ChatRoom, user: string, role: Role = "moderator") {
    this.#room = room;
    this.#bearer = { user, name: user, role };
  }

  /** Asks for the next chunk; the answer may come later. */
  ask(answered?: () => void): ChunkAnswer {
    const before = this.answers.length;
    const place = (this.answers.at(-1) as Chunk | undefined)?.next;
    this.#room.turn(() =>
      this.#room.chat.calls.exportChunk(this.#bearer, place, (given) => {
        this.answers.push(given);
        answered?.();
      }),
    );
    return this.answers.length > before ? this.answers.at(-1) : undefined;
  }

  /** Waits for the turn. */
  next(): ChunkAnswer {
    const before = this.answers.length;
    this.ask();
    for (let turns = 0; this.answers.length === before && turns < 1000; turns++) this.#room.shell.advance(10);
    return this.answers.at(-1);
  }

  get seqs(): number[] {
    const text = this.answers.map((answer) => (answer as Chunk).lines).join("");
    return text.split("\n").flatMap((line) => (line === "" ? [] : [(JSON.parse(line) as Message).seq]));
  }
}

const isChunk = (answer: ChunkAnswer): boolean => answer !== undefined && "lines" in answer;

describe("API-8, CHAT-10: exports under way", () => {
  it(`are ${EXPORTS_PER_USER_MAX} of one user and ${EXPORTS_MAX} in all, of which half is for one of each user's`, () => {
    const room = longRoom();
    const six = Array.from({ length: 6 }, () => new Reader(room, "mia"));
    expect(six.map((reader) => isChunk(reader.ask()))).toEqual([true, true, false, false, false, false]);
    expect(six[2]!.answers).toEqual([refusalOf("RATE_LIMITED")]);
    expect([0, 1].map(() => isChunk(new Reader(room, "max").ask()))).toEqual([true, true]);
    const others = Array.from({ length: 5 }, (_, at) => [`other ${at}`, `other ${at}`]).flat();
    expect(others.map((user) => isChunk(new Reader(room, user).ask()))).toEqual([
      // Four of the eight are taken.
      true,
      false,
      true,
      false,
      true,
      false,
      true,
      false,
      false,
      false,
    ]);
  });

  it("end with their last chunk, and when their reader has asked for nothing for a while", () => {
    const room = longRoom();
    const [first, second, third] = [0, 1, 2].map(() => new Reader(room, "mia")) as [Reader, Reader, Reader];
    first.ask();
    second.ask();
    while ((first.next() as Chunk).next);
    expect(first.seqs).toEqual(Array.from({ length: 10_000 }, (_, at) => at + 1));
    expect(isChunk(third.ask())).toBe(true);
    const late = new Reader(room, "mia");
    expect(isChunk(late.ask())).toBe(false);
    room.shell.advance(EXPORT_IDLE_MS);
    late.answers = [];
    expect(isChunk(late.ask())).toBe(true);
    // A slow reader goes on all the same.
    expect(isChunk(second.next())).toBe(true);
  });

  it("go on where the room has slept or died", () => {
    const room = longRoom();
    const reader = new Reader(room, "mia");
    reader.ask();
    room.shell.crash();
    while ((reader.next() as Chunk).next);
    expect(reader.seqs).toHaveLength(10_000);
  });
});

describe("API-8: chunks of an export", () => {
  it("come in turns of the users, and events run between them", async () => {
    const room = longRoom();
    const ada = await room.join("ada");
    const greedy = Array.from({ length: 2 }, () => new Reader(room, "mia"));
    const modest = new Reader(room, "max");
    for (const reader of [...greedy, modest]) reader.ask();
    // What may be read without a rest is used up.
    for (let at = 0; at < 30; at++) for (const reader of greedy) reader.next();
    const order: string[] = [];
    const asked = [...greedy, ...greedy]
      .map((reader) => ({ reader, name: "mia" }))
      .concat({ reader: modest, name: "max" });
    for (const { reader, name } of asked) reader.ask(() => order.push(name));
    expect(order, "they wait").toEqual([]);
    expect((await ada.ask("chat-message", { content: "between" })).ok).toBe(true);
    room.shell.advance(5000);
    expect(order).toEqual(["mia", "max", "mia", "mia", "mia"]);
  });

  it("are paid by their messages, as searches are", async () => {
    // Of the messages that she may read at once, so many are left.
    const left = 100_000;
    const used = READ_MESSAGES_LIMIT.burst - left;
    const readAllowance = new ReadAllowance();
    readAllowance.pay("mia", { looked: used, reckoned: used }, START_MS);
    const room = longRoom(undefined, readAllowance);
    const mia = await room.join({ user: "mia", role: "moderator" });
    const reader = new Reader(room, "mia");
    let chars = 0;
    for (let exports = 0; chars / 250 < left + 20_000; exports++) {
      reader.answers = [];
      reader.ask();
      while ((reader.answers.at(-1) as Chunk).next) reader.next();
      chars += reader.answers.reduce((sum, answer) => sum + (answer as Chunk).lines.length, 0);
      expect(exports).toBeLessThan(1000);
    }
    const refused = { error: { code: "RATE_LIMITED", message: expect.any(String), retryAfterMs: expect.any(Number) } };
    reader.answers = [];
    let exports = 0;
    for (; isChunk(reader.ask()); exports++) {
      while ((reader.answers.at(-1) as Chunk).next) reader.next();
      reader.answers = [];
      expect(exports).toBeLessThan(100);
    }
    expect(reader.answers).toEqual([refused]);
    expect(await mia.ask("search", { query: "x" })).toEqual(refused);
    expect(isChunk(new Reader(room, "max").ask())).toBe(true);
  });
});

describe("API-8: a reader who may not read any more gets no further chunk", () => {
  const cases: Array<[string, (boss: Client) => Promise<unknown>]> = [
    ["was banned", (boss) => boss.ask("ban", { user: "mia", seconds: 60 })],
    ["is a plain member by grant", (boss) => boss.ask("grant", { user: "mia", role: "member" })],
  ];

  it.each(cases)("who %s", async (_, act) => {
    const room = longRoom();
    const boss = await room.join({ user: "boss", role: "service" });
    const [mia, max] = [new Reader(room, "mia"), new Reader(room, "max")];
    for (const reader of [mia, max]) expect(isChunk(reader.ask())).toBe(true);
    expect(await act(boss)).toEqual({ ok: true });
    expect(mia.next()).toEqual(refusalOf("FORBIDDEN"));
    expect(isChunk(max.next())).toBe(true);
  });

  it("who lost the role that the room gave, while the chunk waited", async () => {
    const room = longRoom();
    const boss = await room.join({ user: "boss", role: "service" });
    await boss.ask("grant", { user: "ada", role: "moderator" });
    const ada = new Reader(room, "ada", "member");
    for (let at = 0; at < 30; at++) expect(isChunk(ada.next())).toBe(true);
    const before = ada.answers.length;
    ada.ask();
    expect(ada.answers, "waits").toHaveLength(before);
    await boss.ask("revoke", { user: "ada" });
    for (let turns = 0; ada.answers.length === before && turns < 1000; turns++) room.shell.advance(10);
    expect(ada.answers.at(-1)).toEqual(refusalOf("FORBIDDEN"));
  });
});
