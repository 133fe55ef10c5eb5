// A log in segments, in real SQLite: trimming, and its rows.
import { describe, expect, it } from "vitest";

import { newestSince } from "../../src/chat/log/message-log.ts";
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
  START_MS,
  withStorage,
} from "./logs.ts";

const BATCH_MAX = 64;
const LONG_MS = 1e12;

describe("a trimmed log", () => {
  it("equals an array of its newest messages", async () => {
    await withStorage((storage, room) => {
      const dice = new Dice(1);
      const retention = { messages: 300, ageMs: LONG_MS };
      let log = openLog(storage, room, retention);
      const all: Message[] = [];
      for (let i = 0; i < 200; i++) {
        if (dice.roll(20) === 0) log.skip(log.lastSeq + 1 + dice.roll(50));
        all.push(...appendBatch(log, room, dice));
        log.trim(START_MS);
        if (dice.roll(10) === 0) log = openLog(storage, room, retention);
        const kept = all.filter(({ seq }) => seq >= log.firstSeq);
        expect(kept.length).toBeGreaterThanOrEqual(Math.min(all.length, retention.messages));
        expect(kept.length).toBeLessThanOrEqual(retention.messages * 1.1 + BATCH_MAX);
        for (const query of [{ limit: 5 }, { limit: 5, after: 0 }, { limit: 400 }, { limit: 9, before: 2000 }])
          expect(log.page(query), JSON.stringify(query)).toEqual(pageOf(kept, query));
        expect(log.has(log.firstSeq - 1)).toBe(false);
      }
      expect(log.firstSeq).toBeGreaterThan(1000);
    });
  });

  it("drops every message in time and continues its seq, also after it was opened again", async () => {
    await withStorage((storage, room) => {
      const retention = { messages: 1000, ageMs: 100_000 };
      const log = openLog(storage, room, retention);
      const dice = new Dice(5);
      expect(log.trimDueMs).toBeUndefined();
      const all = fill(log, room, dice, 30);
      const lastMs = all.at(-1)!.timestamp;
      log.trim(lastMs + retention.ageMs - 1);
      expect(log.page({ limit: 1 }).messages).toEqual([all.at(-1)]);
      while (log.trimDueMs !== undefined) {
        expect(openLog(storage, room, retention).trimDueMs).toBe(log.trimDueMs);
        expect(log.trimDueMs).toBeLessThanOrEqual(lastMs + retention.ageMs * 1.1);
        log.trim(log.trimDueMs);
      }
      for (const each of [log, openLog(storage, room, retention)]) {
        expect([each.firstSeq, each.lastSeq]).toEqual([all.length + 1, all.length]);
        expect(each.page({ limit: 5 })).toEqual({ messages: [], hasMore: false });
        expect([...newestSince(each, 0), ...each.ascending(0)]).toEqual([]);
      }
      const next = openLog(storage, room, retention);
      const message = makeMessage(room, all.length + 1, dice, next.incarnation);
      next.append([message]);
      expect(next.page({ limit: 5 })).toEqual({ messages: [message], hasMore: false });
    });
  });

  it("keeps the reserved seq although no message is left", async () => {
    await withStorage((storage, room) => {
      const log = openLog(storage, room, { messages: 10, ageMs: 1000 });
      fill(log, room, new Dice(1), 2);
      log.reserve(5000);
      log.trim(START_MS + LONG_MS);
      expect(openLog(storage, room).lastSeq).toBe(5000);
    });
  });

  it("can be trimmed while a reader iterates, who continues behind the dropped segments", async () => {
    await withStorage((storage, room) => {
      const log = openLog(storage, room, { messages: 100, ageMs: LONG_MS });
      const all = fill(log, room, new Dice(9), 60);
      log.page({ limit: 1, before: 40 });
      const seen: Message[] = [];
      for (const message of log.ascending(0)) {
        seen.push(message);
        if (seen.length === 5) log.trim(START_MS);
      }
      expect(log.firstSeq).toBeGreaterThan(100);
      const later = seen.slice(seen.findIndex(({ seq }) => seq >= log.firstSeq));
      expect(later).toEqual(all.filter(({ seq }) => seq >= log.firstSeq));
      expect(seen.length).toBeLessThan(all.length);
    });
  });

  it("writes a row to drop a segment and a few to begin one, for any number of messages", async () => {
    await withStorage((storage, room) => {
      const counted = new Counted(storage);
      const log = openLog(counted.storage, room, { messages: 2000, ageMs: LONG_MS });
      // The welcome contains the name of the log, so the log has one before its first message.
      expect(log.epoch).toBe(EPOCH);
      const dice = new Dice(4);
      let begun = 0;
      for (let i = 0; i < 600; i++) {
        const { written } = counted.rowsOf(() => appendBatch(log, room, dice));
        if (written > 1) begun++;
        expect(written).toBeLessThanOrEqual(7);
      }
      expect(begun).toBeLessThanOrEqual(log.lastSeq / 200 + 1);
      const { written } = counted.rowsOf(() => log.trim(START_MS));
      expect(log.firstSeq).toBeGreaterThan(1000);
      expect(written).toBeLessThanOrEqual(begun);
    });
  });

  it("is unchanged where trimming fails", async () => {
    await withStorage((storage, room) => {
      const retention = { messages: 100, ageMs: LONG_MS };
      const log = openLog(storage, room, retention);
      const all = fill(log, room, new Dice(9), 60);
      storage.sql.exec("CREATE TRIGGER full BEFORE DELETE ON segments BEGIN SELECT RAISE(ABORT, 'full'); END");
      expect(() => log.trim(START_MS)).toThrow("full");
      for (const each of [log, openLog(storage, room, retention)]) expect([...each.ascending(0)]).toEqual(all);
      storage.sql.exec("DROP TRIGGER full");
      log.trim(START_MS);
      expect(log.firstSeq).toBeGreaterThan(1);
    });
  });
});
