// Search in real SQLite: the candidates of FTS5, the rows that it writes, and the remains in storage.
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";

import { SqlSearchIndex } from "../../src/features/search/sql-search-index.ts";
import { messageId } from "../../src/protocol/message.ts";
import type { MessageLog } from "../../src/chat/log/message-log.ts";
import { INDEX_SHAPE, type IndexShape, type SearchIndex } from "../../src/features/search/search-index.ts";
import { match, parsePhrases } from "../../src/features/search/search-query.ts";
import { SearchRun } from "../../src/features/search/search-run.ts";
import type { FoundMessage, Message, SearchAnswer } from "../../src/protocol/chat-events.ts";
import { callApi, nextOf, pagesFrom, refusal } from "./api-caller.ts";
import { Dice, EPOCH, openLog, START_MS, withStorage } from "./logs.ts";
import type { RawClient } from "./raw-client.ts";
import { freshRoom, isAtRest, join, Sleeper, stubOf, useSettings, withSettings } from "./rooms.ts";
import { rowsWritten } from "./rows-written.ts";

const HISTORY_MESSAGES = 11_000;
useSettings({ HISTORY_MESSAGES: String(HISTORY_MESSAGES), MESSAGE_RATE: "10000", MESSAGE_BURST: "10000" });

const SMALL: IndexShape = {
  blockMessages: 4,
  blockChars: 1e6,
  partMessages: 32,
  unindexedMessages: 16,
  gapMessagesMin: 8,
  partUnits: 1e6,
  partsMax: 100,
};
const WORDS = ["tea", "Téa", "teapot", "green", "black", "茶", "緑茶", "🎉", "AND", '"', "*", "NEAR(", "it's", "a-b"];

function say(log: MessageLog, room: string, content: string, sender = "ada"): void {
  const seq = log.lastSeq + 1;
  const message: Message = {
    id: messageId(EPOCH, seq),
    seq,
    room,
    sender,
    name: sender,
    content,
    timestamp: START_MS + seq,
  };
  log.append([message]);
}

interface Opened {
  readonly log: MessageLog;
  readonly index: SearchIndex;
}

function searchAll({ log, index }: Opened, query: string, from?: string, problem?: RegExp): FoundMessage[] {
  const problems: unknown[] = [];
  const walk = new SearchRun({
    log,
    index,
    query: { phrases: parsePhrases(query), from },
    before: Infinity,
    sinceSeq: 0,
    limit: 1e6,
    report: (_problem, error) => problems.push(error),
  });
  walk.go(Infinity);
  expect(problems.map(String)).toEqual(problem ? [expect.stringMatching(problem)] : []);
  return [...walk.found];
}

/** The contents of a room's search tables, as text. */
function indexText({ sql }: DurableObjectStorage): string {
  const tables = sql.exec<{ name: string }>("SELECT name FROM sqlite_master WHERE name LIKE 'search_%_data'").toArray();
  const blocks = tables.flatMap(({ name }) => sql.exec<{ block: ArrayBuffer }>(`SELECT block FROM ${name}`).toArray());
  return blocks.map(({ block }) => new TextDecoder().decode(block)).join("\n");
}

describe("the index in FTS5", () => {
  it("finds every message that a full scan finds: SRCH-6", async () => {
    await withStorage((storage, room) => {
      const dice = new Dice(7);
      let found = 0;
      const text = (): string =>
        Array.from({ length: 1 + dice.roll(5) }, () => WORDS[dice.roll(WORDS.length)]).join(" ");
      const log = openLog(storage, room, { messages: 400, ageMs: 1e12 });
      let index = new SqlSearchIndex(storage, SMALL);
      for (let i = 0; i < 600; i++) {
        say(log, room, text(), ["ada", 'b"e*n', "zoë"][dice.roll(3)]);
        if (dice.roll(10) === 0) change(text(), log.firstSeq + dice.roll(log.lastSeq - log.firstSeq));
        if (dice.roll(20) === 0) forget();
        if (dice.roll(10) === 0) compare(text(), [undefined, "ada", 'b"e*n', "zoë", "nobody"][dice.roll(5)]);
      }
      expect(index.parts.length).toBeGreaterThan(5);
      expect(found).toBeGreaterThan(400);

      /** As the room does: the index first. */
      function change(content: string, seq: number): void {
        const part = index.parts.find(({ firstSeq, lastSeq }) => firstSeq <= seq && seq <= lastSeq);
        if (part) index.drop(part);
        const edits = [{ content, timestamp: START_MS, by: "ada" }];
        log.keep(
          seq,
          seq,
          dice.roll(2) ? { edits, reactions: new Map() } : { edits: [], reactions: new Map(), deletedBy: "ada" },
        );
      }
      function forget(): void {
        log.trim(START_MS);
        for (const part of index.parts.filter(({ firstSeq }) => firstSeq < log.firstSeq)) index.drop(part);
      }
      function compare(text: string, from?: string): void {
        const query = { phrases: parsePhrases(text), from };
        if (query.phrases.length === 0 && from === undefined) return;
        // Sometimes opened again, as after sleep.
        if (dice.roll(2)) index = new SqlSearchIndex(storage, SMALL);
        const expected = [...log.ascending(0)].filter((message) => match(query, message)).reverse();
        expect(searchAll({ log, index }, text, from)).toMatchObject(expected);
        found += expected.length;
      }
    });
  });

  it("of another version is dropped and rebuilt", async () => {
    await withStorage((storage, room) => {
      const log = openLog(storage, room);
      for (let i = 0; i < 100; i++) say(log, room, `place ${i + 1}`);
      const index = new SqlSearchIndex(storage, SMALL);
      searchAll({ log, index }, "nothing");
      expect(index.parts).toHaveLength(2);
      storage.sql.exec("UPDATE search_parts SET version = 0");
      const later = new SqlSearchIndex(storage, SMALL);
      expect(later.parts).toEqual([]);
      expect(searchAll({ log, index: later }, "7 ").map(({ seq }) => seq)).toEqual([7]);
      expect(later.parts).toHaveLength(2);
    });
  });

  it("indexes the longest messages: no row exceeds the platform's limit", async () => {
    await withStorage((storage, room) => {
      const log = openLog(storage, room);
      const dice = new Dice(3);
      const glyphs = (): string =>
        Array.from({ length: 90_000 }, () => String.fromCodePoint(0x4e00 + dice.roll(20_000))).join("");
      // Each of the long ones is a block, so a row, of its own.
      for (let seq = 1; seq <= 16; seq++)
        say(log, room, seq === 4 ? glyphs() : seq === 5 ? `${glyphs()} woodcut` : "short");
      const shape = { ...INDEX_SHAPE, partMessages: 8, unindexedMessages: 8, partUnits: 1e7 };
      const index = new SqlSearchIndex(storage, shape);
      for (let searches = 0; searches < 2; searches++) {
        expect(searchAll({ log, index }, "woodcut").map(({ seq }) => seq)).toEqual([5]);
        expect(index.parts).toEqual([{ firstSeq: 1, lastSeq: 8 }]);
      }
    });
  });

  it("that is damaged is not used, and rebuilt", async () => {
    await withStorage((storage, room) => {
      const log = openLog(storage, room);
      for (let i = 0; i < 100; i++) say(log, room, `place ${i + 1}`);
      const index = new SqlSearchIndex(storage, SMALL);
      searchAll({ log, index }, "nothing");
      storage.sql.exec("DROP TABLE search_33");
      expect(searchAll({ log, index }, "7 ", undefined, /no such table/).map(({ seq }) => seq)).toEqual([7]);
      expect(index.parts).toHaveLength(1);
      expect(searchAll({ log, index }, "37 ").map(({ seq }) => seq)).toEqual([37]);
      expect(index.parts).toHaveLength(2);
    });
  });
});

/** A sleeping room with a long log. Message n is "place n", with a rare word in every thousandth. */
async function longRoom(count: number, historyMessages = HISTORY_MESSAGES): Promise<string> {
  const room = freshRoom();
  await runInDurableObject(stubOf(room), (_instance, { storage }) => {
    const log = openLog(storage, room, { messages: historyMessages, ageMs: 1e12 });
    const message = (seq: number): Message => {
      const content = `place ${seq} ${seq % 1000 === 0 ? `xylograph${seq}z` : "among many others"}`;
      return { id: messageId(log.epoch, seq), seq, room, sender: "ada", name: "ada", content, timestamp: Date.now() };
    };
    for (let from = 1; from <= count; from += 16)
      log.append(Array.from({ length: Math.min(16, count + 1 - from) }, (_, i) => message(from + i)));
  });
  await evictDurableObject(stubOf(room), { webSockets: "hibernate" });
  return room;
}

type Page = Extract<SearchAnswer, { ok: true }>;
const search = (client: RawClient, query: string): Promise<Page> => client.ask<Page>("search", { query });
const seqsOf = ({ messages }: Page): number[] => messages.map(({ seq }) => seq);
const indexTextOf = (room: string): Promise<string> =>
  runInDurableObject(stubOf(room), (_instance, { storage }) => indexText(storage));

describe("rows: SRCH-7", () => {
  it("one per 64 messages for the first search of a long room, and none after it", async () => {
    const room = await longRoom(5200);
    const ada = await join(room, "ada");
    const parts = Math.floor((5200 - INDEX_SHAPE.unindexedMessages) / INDEX_SHAPE.partMessages);
    const first = await rowsWritten(room, async () => expect((await search(ada, "nowhere")).messages).toEqual([]));
    const blocks = INDEX_SHAPE.partMessages / INDEX_SHAPE.blockMessages;
    // A table is two rows; each part has one, and a row that lists it.
    // Besides the alarm of a room whose clients are pinged, which is set soon after they join.
    expect(first.rows - first.alarms).toBe(2 + parts * (2 + blocks + 1));
    const later = await rowsWritten(room, async () => {
      for (const query of ["xylograph", "place 17 ", "other", "nowhere", "xylograph3000"]) await search(ada, query);
    });
    expect(later.rows - later.alarms).toBe(0);
    await new Sleeper(room).sleep();
    const { rows, alarms } = await rowsWritten(room, async () => {
      expect(seqsOf(await search(ada, "xylograph3000"))).toEqual([3000]);
    });
    expect(rows - alarms).toBe(0);
  });

  it("a few for deleting or editing an indexed message: its terms are overwritten", async () => {
    const room = await longRoom(3100);
    const ada = await join(room, "ada");
    await isAtRest(room);
    await search(ada, "nowhere");
    const { messages } = await search(ada, "xylograph1000");
    const { id } = messages[0]!;
    await ada.ask("react", { id, emoji: "👍", on: true });
    const edited = await rowsWritten(room, () => ada.ask("edit-message", { id, content: "woodcut" }));
    expect(edited.rows).toBeLessThanOrEqual(16);
    expect(seqsOf(await search(ada, "woodcut"))).toEqual([1000]);
    const deleted = await rowsWritten(room, () => ada.ask("delete-message", { id }));
    expect(deleted.rows).toBeLessThanOrEqual(17);
  });
});

describe("remaining in storage: SRCH-7", () => {
  it("nothing of a deleted message", async () => {
    const room = await longRoom(3100);
    const ada = await join(room, "ada");
    const { messages } = await search(ada, "xylograph2000");
    expect(seqsOf({ messages } as Page)).toEqual([2000]);
    expect(await indexTextOf(room)).toContain("xylograph1000");
    // Common beginnings are written once.
    expect(await indexTextOf(room)).toContain("2000");
    expect(await ada.ask("delete-message", { id: messages[0]!.id })).toEqual({ ok: true });
    expect(await indexTextOf(room)).not.toContain("xylograph");
    await new Sleeper(room).sleep();
    expect(seqsOf(await search(ada, "xylograph2000"))).toEqual([]);
    expect(seqsOf(await search(ada, "xylograph"))).toEqual([3000, 1000]);
    expect(await indexTextOf(room)).toContain("xylograph1000");
  });

  it("nothing of messages that retention dropped: CHAT-8", () =>
    withSettings({ HISTORY_MESSAGES: "4000" }, async () => {
      const room = await longRoom(6000, 4000);
      const ada = await join(room, "ada");
      expect(seqsOf(await search(ada, "xylograph1000z "))).toEqual([1000]);
      const before = await indexTextOf(room);
      await ada.ask("chat-message", { content: "and one more" });
      const { messages } = await ada.ask<Page>("history", { after: 0, limit: 1 });
      expect(messages[0]!.seq).toBeGreaterThan(1000);
      expect(before).toContain("xylograph1000z");
      expect(await indexTextOf(room)).not.toContain("xylograph1000z");
      expect(seqsOf(await search(ada, "xylograph1000z "))).toEqual([]);
      expect(seqsOf(await search(ada, "xylograph3000"))).toEqual([3000]);
    }));

  it("nothing of a deleted room, which can be searched again: API-9", async () => {
    const room = await longRoom(3100);
    await search(await join(room, "ada"), "nowhere");
    expect(await callApi("DELETE", `/api/rooms/${room}`)).toMatchObject({ status: 200 });
    expect(await indexTextOf(room)).toBe("");
    const ben = await join(room, "ben");
    expect(await search(ben, "place")).toEqual({ ok: true, messages: [], hasMore: false, before: 1 });
    await ben.ask("chat-message", { content: "a new place" });
    expect(seqsOf(await search(ben, "place"))).toEqual([1]);
  });
});

describe("callers: SRCH-8", () => {
  it("all get the same pages, over HTTP too; what FTS5 would take for operators is text", async () => {
    const room = await longRoom(3100);
    const path = `/api/rooms/${room}/search`;
    const first = await callApi("GET", `${path}?query=xylograph&limit=2`);
    expect(first).toMatchObject({ status: 200, body: { ok: true, hasMore: true, before: 2000 } });
    expect(first.body.messages).toMatchObject([{ seq: 3000, matches: [[11, 25]] }, { seq: 2000 }]);
    expect(await pagesFrom(nextOf(first)!)).toMatchObject([{ ok: true, hasMore: false, messages: [{ seq: 1000 }] }]);
    const reader = await join(room, "rita");
    expect(await reader.ask("search", { query: "xylograph", limit: 2 })).toEqual(first.body);
    expect(await callApi("GET", `${path}?query=17&from=ada&limit=1`)).toMatchObject({
      body: { messages: { length: 1 } },
    });
    for (const query of ["", "?query=%22", "?query=a&limit=51", "?query=a&query=b", `?query=${"x".repeat(300)}`])
      expect(await callApi("GET", path + query)).toMatchObject({ status: 400, body: refusal("INVALID_PAYLOAD") });
    const odd = [
      'place" OR "',
      "NEAR(place 17, 2)",
      "terms:place",
      "place AND NOT 17",
      '") OR rowid > 0 --',
      "{place} : 1",
    ];
    const ada = await join(room, "ada");
    for (const query of odd) expect(await search(ada, query)).toMatchObject({ ok: true });
    expect(await search(ada, "pl\u0000ace")).toMatchObject({ ok: true, messages: [] });
  });
});
