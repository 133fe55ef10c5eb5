// The log in real SQLite against a plain array: whatever is asked, both answer alike.
import { runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";

import { SqlMessageLog } from "../../durable/sql-message-log.ts";
import { messageId } from "../../src/chat/message-id.ts";
import type { Page, PageQuery } from "../../src/chat/message-log.ts";
import type { Message } from "../../src/protocol/chat-events.ts";
import { freshRoom, join, stubOf } from "./rooms.ts";

const EPOCH = "the-epoch";
const START_MS = 1_700_000_000_000;

/** Random numbers that are the same in every run. */
class Dice {
  #state: number;
  constructor(seed: number) {
    this.#state = seed;
  }
  /** From 0 to `sides - 1`. */
  roll(sides: number): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((this.#state / 2 ** 32) * sides);
  }
}

function makeMessage(room: string, seq: number, dice: Dice): Message {
  const sender = `user-${dice.roll(5)}`;
  return {
    id: messageId(EPOCH, seq),
    seq,
    room,
    sender,
    name: dice.roll(2) ? sender : 'Zoë \u{1f98a} "quoted" \u2028',
    content: `message ${seq} ${"x".repeat(dice.roll(200))}`,
    timestamp: START_MS + seq * 10,
    ...(dice.roll(2) && { clientMsgId: `client-${seq}` }),
    ...(seq > 1 && dice.roll(4) === 0 && { replyTo: messageId(EPOCH, 1 + dice.roll(seq - 1)) }),
  };
}

/** What a page is by definition. */
function pageOf(all: readonly Message[], { before, after, limit }: PageQuery): Page {
  if (after !== undefined) {
    const found = all.filter(({ seq }) => seq > after);
    return { messages: found.slice(0, limit), hasMore: found.length > limit };
  }
  const found = all.filter(({ seq }) => before === undefined || seq < before);
  return { messages: found.slice(Math.max(0, found.length - limit)), hasMore: found.length > limit };
}

/** Runs in a room's object, on tables that nobody else uses. */
function withSql<Result>(run: (sql: SqlStorage, room: string) => Result): Promise<Result> {
  const room = freshRoom();
  return runInDurableObject(stubOf(room), (_instance, state) => {
    state.storage.sql.exec("DELETE FROM batches; DELETE FROM log_names");
    return run(state.storage.sql, room);
  });
}

const openLog = (sql: SqlStorage, room: string): SqlMessageLog => new SqlMessageLog(sql, room, () => EPOCH);
const rowsOf = (sql: SqlStorage): number => sql.exec<{ n: number }>("SELECT count(*) AS n FROM batches").one().n;

function fill(log: SqlMessageLog, room: string, dice: Dice, batches: number): Message[] {
  const all: Message[] = [];
  for (let i = 0; i < batches; i++) {
    const batch = Array.from({ length: 1 + dice.roll(dice.roll(8) ? 6 : 64) }, (_, j) =>
      makeMessage(room, all.length + 1 + j, dice),
    );
    log.append(batch);
    all.push(...batch);
  }
  return all;
}

describe("pages", () => {
  it.each([1, 2, 3, 4])("are those of an array of messages (seed %i)", async (seed) => {
    await withSql((sql, room) => {
      const dice = new Dice(seed);
      const log = openLog(sql, room);
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

  it("at their very edges", async () => {
    await withSql((sql, room) => {
      const log = openLog(sql, room);
      const dice = new Dice(7);
      for (const batches of [0, 1, 3]) {
        sql.exec("DELETE FROM batches");
        const fresh = batches === 0 ? log : openLog(sql, room);
        const all = fill(fresh, room, dice, batches);
        const bounds = [0, 1, 2, all.length - 1, all.length, all.length + 1, Number.MAX_SAFE_INTEGER].filter(
          (n) => n >= 0,
        );
        for (const limit of [1, Math.max(1, all.length), all.length + 1]) {
          for (const bound of bounds) {
            for (const query of [{ limit }, { limit, before: bound }, { limit, after: bound }]) {
              expect(fresh.page(query), JSON.stringify(query)).toEqual(pageOf(all, query));
            }
          }
        }
      }
    });
  });
});

it("a fresh log reads what an old one wrote, and goes on", async () => {
  await withSql((sql, room) => {
    const dice = new Dice(11);
    const all = fill(openLog(sql, room), room, dice, 20);
    const reopened = new SqlMessageLog(sql, room, () => "another epoch");
    expect(reopened.epoch).toBe(EPOCH);
    expect([reopened.firstSeq, reopened.lastSeq]).toEqual([1, all.length]);
    expect(reopened.page({ limit: 200 })).toEqual(pageOf(all, { limit: 200 }));
    const next = makeMessage(room, all.length + 1, dice);
    reopened.append([next]);
    expect(openLog(sql, room).page({ limit: 1 })).toEqual({ messages: [next], hasMore: true });
  });
});

it("newest() goes back in time and no further than asked", async () => {
  await withSql((sql, room) => {
    const log = openLog(sql, room);
    const all = fill(log, room, new Dice(13), 30);
    const since = START_MS + 10 * Math.floor(all.length / 2);
    expect([...log.newest(since)]).toEqual(all.filter(({ timestamp }) => timestamp >= since).reverse());
  });
});

it("a batch is one row, however many messages it holds", async () => {
  await withSql((sql, room) => {
    const log = openLog(sql, room);
    fill(log, room, new Dice(17), 25);
    expect(rowsOf(sql)).toBe(25);
    expect(log.lastSeq).toBeGreaterThan(25);
  });
});

it("a page reads the rows it needs, and not the whole log", async () => {
  await withSql((sql, room) => {
    const log = openLog(sql, room);
    fill(log, room, new Dice(19), 400);
    let rowsRead = 0;
    const counting = Object.create(sql) as SqlStorage;
    counting.exec = ((query: string, ...bindings: unknown[]) => {
      const cursor = sql.exec(query, ...bindings);
      cursors.push(cursor);
      return cursor;
    }) as SqlStorage["exec"];
    const cursors: Array<{ rowsRead: number }> = [];
    const reader = openLog(counting, room);
    for (const query of [{ limit: 10 }, { limit: 10, before: 700 }, { limit: 10, after: 700 }]) {
      cursors.length = 0;
      expect(reader.page(query).messages).toHaveLength(10);
      rowsRead = cursors.reduce((sum, cursor) => sum + cursor.rowsRead, 0);
      expect(rowsRead, JSON.stringify(query)).toBeLessThanOrEqual(13);
    }
  });
});

it("a burst of posts is few rows: group commit", async () => {
  const room = freshRoom();
  const clients = await Promise.all(["ada", "ben", "cyd"].map((user) => join(room, user)));
  const posts = clients.flatMap((client) =>
    Array.from({ length: 10 }, (_, i) => client.ask<{ seq: number }>("chat-message", { content: `${i}` })),
  );
  const seqs = (await Promise.all(posts)).map(({ seq }) => seq).sort((a, b) => a - b);
  expect(seqs).toEqual(Array.from({ length: 30 }, (_, i) => i + 1));
  const rows = await runInDurableObject(stubOf(room), (_instance, state) => rowsOf(state.storage.sql));
  expect(rows).toBeLessThanOrEqual(10);
});
