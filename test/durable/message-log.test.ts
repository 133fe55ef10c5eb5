// Compares the log in real SQLite with a plain array, for every kind of read; and counts its rows.
import { describe, expect, it } from "vitest";

import { newestSince } from "../../src/chat/log/message-log.ts";
import { SqlMessageLog } from "../../src/objects/sql/sql-message-log.ts";
import { UnreadableBatch } from "../../src/chat/log/batch-format.ts";
import { BATCH_CHARS_MAX } from "../../src/chat/posting/commit.ts";
import type { Message } from "../../src/protocol/chat-events.ts";
import {
  appendBatch,
  Counted,
  Dice,
  EPOCH,
  fill,
  makeMessage,
  openLog,
  pageOf,
  RETENTION,
  START_MS,
  withStorage,
} from "./logs.ts";

describe("pages", () => {
  it("equal those of an array of messages", async () => {
    await withStorage((storage, room) => {
      const dice = new Dice(1);
      const log = openLog(storage, room);
      const all = fill(log, room, dice, 60);
      expect(log.lastSeq).toBe(all.length);
      for (let i = 0; i < 300; i++) {
        const bound = dice.roll(all.length + 20);
        const direction = dice.roll(3);
        const limit = 1 + dice.roll(dice.roll(2) ? 10 : 200);
        const query = { limit, ...(direction === 1 && { before: bound }), ...(direction === 2 && { after: bound }) };
        expect(log.page(query), JSON.stringify(query)).toEqual(pageOf(all, query));
      }
    });
  });

  it.each([0, 1, 3])("of %i batches, at their very edges", async (batches) => {
    await withStorage((storage, room) => {
      const log = openLog(storage, room);
      const all = fill(log, room, new Dice(7), batches);
      const bounds = [0, 1, 2, all.length - 1, all.length, all.length + 1, Number.MAX_SAFE_INTEGER];
      for (const limit of [1, Math.max(1, all.length), all.length + 1]) {
        for (const bound of bounds.filter((n) => n >= 0)) {
          for (const query of [{ limit }, { limit, before: bound }, { limit, after: bound }]) {
            expect(log.page(query), JSON.stringify(query)).toEqual(pageOf(all, query));
          }
        }
      }
    });
  });

  it("jump over skipped seqs", async () => {
    await withStorage((storage, room) => {
      const dice = new Dice(1);
      let log = openLog(storage, room);
      const all: Message[] = [];
      for (let i = 0; i < 40; i++) {
        if (dice.roll(3) === 0) log.skip(log.lastSeq + 1 + dice.roll(30));
        all.push(...appendBatch(log, room, dice));
        if (dice.roll(6) === 0) log = openLog(storage, room);
      }
      expect(log.lastSeq).toBeGreaterThan(all.length);
      const taken = new Set(all.map(({ seq }) => seq));
      for (let seq = 0; seq <= log.lastSeq + 2; seq++) {
        expect(log.has(seq), `${seq}`).toBe(taken.has(seq));
        for (const query of [
          { limit: 3, before: seq },
          { limit: 3, after: seq },
        ]) {
          expect(log.page(query), JSON.stringify(query)).toEqual(pageOf(all, query));
        }
      }
    });
  });
});

describe("a fresh log", () => {
  it("reads the messages of an old one, and goes on", async () => {
    await withStorage((storage, room) => {
      const dice = new Dice(11);
      const all = fill(openLog(storage, room), room, dice, 20);
      const options = { room, retention: RETENTION, nowMs: START_MS, newName: () => "another epoch" };
      const reopened = new SqlMessageLog(storage, options);
      expect(reopened.epoch).toBe(EPOCH);
      expect([reopened.firstSeq, reopened.lastSeq]).toEqual([1, all.length]);
      expect(reopened.page({ limit: 200 })).toEqual(pageOf(all, { limit: 200 }));
      const next = makeMessage(room, all.length + 1, dice, reopened.incarnation);
      reopened.append([next]);
      expect(openLog(storage, room).page({ limit: 1 })).toEqual({ messages: [next], hasMore: true });
    });
  });

  it("begins behind the reserved seq or the newest message, whichever is later", async () => {
    await withStorage((storage, room) => {
      const log = openLog(storage, room);
      log.reserve(100);
      expect([log.firstSeq, log.lastSeq]).toEqual([1, 0]);
      expect(openLog(storage, room).lastSeq).toBe(100);
      const all = fill(log, room, new Dice(3), 3);
      expect(openLog(storage, room).lastSeq).toBe(100);
      log.reserve(log.lastSeq);
      expect(openLog(storage, room).lastSeq).toBe(all.length);
      all.push(...appendBatch(log, room, new Dice(5)));
      expect(openLog(storage, room).lastSeq).toBe(all.length);
    });
  });
});

describe("iterating over a log", () => {
  it("newest() goes back to the given time", async () => {
    await withStorage((storage, room) => {
      const log = openLog(storage, room);
      const all = fill(log, room, new Dice(13), 30);
      const since = START_MS + 10 * Math.floor(all.length / 2);
      expect([...newestSince(log, since)]).toEqual(all.filter(({ timestamp }) => timestamp >= since).reverse());
    });
  });

  it("ascending() gives all messages after a seq, and those appended meanwhile", async () => {
    await withStorage((storage, room) => {
      const log = openLog(storage, room);
      const dice = new Dice(23);
      const all = fill(log, room, dice, 20);
      const seen: Message[] = [];
      for (const message of log.ascending(17)) {
        seen.push(message);
        if (seen.length % 40 === 0 && all.length < 400) all.push(...appendBatch(log, room, dice));
      }
      expect(seen).toEqual(all.slice(17));
    });
  });
});

describe("the cost of a log", () => {
  it("showing first writes one more row when it begins, and one when it ends", async () => {
    await withStorage((storage, room) => {
      const counted = new Counted(storage);
      const log = openLog(counted.storage, room);
      log.reserve(1);
      for (const seq of [1000, 5]) expect(counted.rowsOf(() => log.reserve(seq)).written).toBe(1);
    });
  });

  it("a page reads only its own rows, and opening a log only the list of segments", async () => {
    await withStorage((storage, room) => {
      fill(openLog(storage, room), room, new Dice(19), 400);
      const segments = storage.sql.exec("SELECT 1 FROM segments").toArray().length;
      const counted = new Counted(storage);
      let log!: SqlMessageLog;
      const opening = counted.rowsOf(() => (log = openLog(counted.storage, room)));
      expect(segments).toBeGreaterThan(50);
      // The list itself, and its tables in SQLite's own list, which is looked through twice.
      expect(opening.read).toBeLessThanOrEqual(4 * segments);
      expect(opening.written).toBe(0);
      for (const query of [{ limit: 10 }, { limit: 10, before: 700 }, { limit: 10, after: 700 }]) {
        const rows = counted.rowsOf(() => expect(log.page(query).messages).toHaveLength(10));
        expect(rows.read, JSON.stringify(query)).toBeLessThanOrEqual(20);
      }
    });
  });
});

describe("a row", () => {
  it.each([
    ["control characters", "\u0001"],
    ["lone surrogates", "\ud800"],
    ["what UTF-8 takes three bytes for", "\u2028"],
  ])("takes the largest batch there can be: %s", async (_what, character) => {
    await withStorage((storage, room) => {
      const log = openLog(storage, room);
      const content = character.repeat(BATCH_CHARS_MAX / character.length);
      const message = { ...makeMessage(room, 1, new Dice(1), log.incarnation), name: character.repeat(64), content };
      log.append([message]);
      expect(openLog(storage, room).page({ limit: 1 }).messages).toEqual([message]);
    });
  });

  it.each([
    ["is of a version that is not known", '[9,"whatever"]', "version 9; this code reads 1"],
    ["is no JSON", "[1,17", "no JSON"],
    ["holds too few messages", "[1,17,[]]", "does not hold"],
  ])("that %s is named by a read that comes to it, and by no other", async (_what, body, complaint) => {
    await withStorage((storage, room) => {
      const log = openLog(storage, room);
      const message = (seq: number, { incarnation } = log): Message =>
        makeMessage(room, seq, new Dice(seq), incarnation);
      for (const seq of [1, 2, 3, 4, 5]) log.append([message(seq)]);
      storage.sql.exec("UPDATE batches_1 SET body = ? WHERE first_seq = 3", body);
      const reopened = openLog(storage, room);
      for (const query of [{ limit: 5 }, { limit: 1, before: 4 }, { limit: 2, after: 1 }]) {
        expect(() => reopened.page(query)).toThrow(UnreadableBatch);
        expect(() => reopened.page(query)).toThrow(complaint);
        expect(() => reopened.page(query)).toThrow("seq 3");
      }
      expect(reopened.page({ limit: 2 })).toEqual({ messages: [message(4), message(5)], hasMore: true });
      expect(reopened.page({ limit: 2, before: 3 }).messages).toEqual([message(1), message(2)]);
      expect(reopened.page({ limit: 2, after: 3 }).messages).toEqual([message(4), message(5)]);
      reopened.append([message(6, reopened)]);
      expect(reopened.page({ limit: 1 }).messages).toEqual([message(6, reopened)]);
    });
  });

  it("is stored whole or not at all, also where a segment begins", async () => {
    await withStorage((storage, room) => {
      const log = openLog(storage, room, { ...RETENTION, messages: 10 });
      const [first, second] = [1, 2].map((seq) => makeMessage(room, seq, new Dice(seq), log.incarnation));
      log.append([first!]);
      storage.sql.exec("CREATE TRIGGER full BEFORE INSERT ON segments BEGIN SELECT RAISE(ABORT, 'full'); END");
      expect(() => log.append([second!])).toThrow("full");
      expect([log.lastSeq, log.has(2)]).toEqual([1, false]);
      storage.sql.exec("DROP TRIGGER full");
      log.append([second!]);
      for (const each of [log, openLog(storage, room)])
        expect(each.page({ limit: 9 }).messages).toEqual([first, second]);
    });
  });
});
