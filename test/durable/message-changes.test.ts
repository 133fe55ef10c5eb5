// Tests edits, deletions and reactions in real SQLite: reads, remains of deleted texts, and rows written.
import { runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";

import { UNCHANGED, withChange, type Change } from "../../src/chat/log/change.ts";
import { UnreadableBatch } from "../../src/chat/log/batch-format.ts";
import type { Message } from "../../src/protocol/chat-events.ts";
import { appendBatch, Counted, Dice, fill, openLog, pageOf, START_MS, withStorage } from "./logs.ts";
import { freshRoom, join, joinModerator, Sleeper, stubOf } from "./rooms.ts";

const edited = (...contents: string[]): Change => ({
  ...UNCHANGED,
  edits: contents.map((content, at) => ({ content, timestamp: START_MS + at, by: "user-1" })),
});
const liked = (...users: string[]): Change => ({ ...UNCHANGED, reactions: new Map([["👍", users]]) });
const DELETED: Change = { ...UNCHANGED, deletedBy: "user-2" };

describe("a log whose messages change", () => {
  it("equals an array of messages, also trimmed and reopened", async () => {
    await withStorage((storage, room) => {
      const dice = new Dice(1);
      const retention = { messages: 200, ageMs: 1e12 };
      let log = openLog(storage, room, retention);
      const all: Message[] = [];
      const changes = new Map<number, { rev: number; change: Change }>();
      for (let rev = 1; rev <= 300; rev++) {
        if (dice.roll(3) === 0) all.push(...appendBatch(log, room, dice));
        const kept = all.filter(({ seq }) => seq >= log.firstSeq);
        const target = kept[dice.roll(kept.length || 1)];
        if (target && changes.get(target.seq)?.change.deletedBy === undefined) {
          const change = [edited(`edit ${rev}`), liked("ada", `user-${rev}`), UNCHANGED, DELETED][dice.roll(4)]!;
          log.keep(target.seq, rev, change);
          changes.set(target.seq, { rev, change });
        }
        if (dice.roll(10) === 0) log.trim(START_MS);
        if (dice.roll(10) === 0) log = openLog(storage, room, retention);
        const now = all
          .filter(({ seq }) => seq >= log.firstSeq)
          .map((message) => withChange(message, changes.get(message.seq)?.change));
        for (const query of [
          { limit: 20 },
          { limit: 20, after: log.firstSeq + 20 },
          { limit: 9, before: log.lastSeq - 9 },
        ])
          expect(log.page(query), JSON.stringify(query)).toEqual(pageOf(now, query));
        const after = dice.roll(rev);
        const due = [...changes]
          .map(([seq, changed]) => ({ seq, rev: changed.rev }))
          .filter((changed) => changed.rev > after && changed.seq >= log.firstSeq)
          .sort((a, b) => a.rev - b.rev);
        expect(log.changedAfter(after, 1000)).toEqual(due);
        expect(log.changedAfter(after, 3)).toEqual(due.slice(0, 3));
      }
      expect([...log.ascending(0)]).toEqual(log.page({ limit: 10_000 }).messages);
      expect(log.firstSeq).toBeGreaterThan(1);
    });
  });

  it("deletes one message of a batch completely and leaves the others as they were", async () => {
    await withStorage((storage, room) => {
      const log = openLog(storage, room);
      const all = fill(log, room, new Dice(7), 6);
      const target = all.find(({ replyTo, clientMsgId }) => replyTo !== undefined && clientMsgId !== undefined)!;
      const { seq, content, clientMsgId } = target;
      log.keep(seq, 1, edited("a second secret"));
      log.keep(seq, 2, DELETED);
      const kept = log.find(seq)!;
      expect(kept.posted).toEqual({ ...target, content: "", replyTo: undefined });
      expect(kept.posted.clientMsgId).toBe(clientMsgId);
      expect(log.page({ limit: 1000 }).messages.filter((message) => message.seq !== seq)).toEqual(
        all.filter((message) => message.seq !== seq),
      );
      expect(dump(storage)).not.toMatch(new RegExp(`${content.trim()}|second secret`));
      expect(log.has(seq)).toBe(true);
    });
  });

  it("finds no message at a skipped seq", async () => {
    await withStorage((storage, room) => {
      const log = openLog(storage, room);
      expect(log.find(1)).toBeUndefined();
      const [first] = fill(log, room, new Dice(1), 1);
      expect(log.find(1)).toEqual({ posted: first, change: undefined });
      expect(log.changedAfter(0, 10)).toEqual([]);
      const { lastSeq } = log;
      log.skip(lastSeq + 3);
      for (const seq of [0, -1, lastSeq + 1, lastSeq + 3, lastSeq + 4]) expect(log.find(seq), `${seq}`).toBeUndefined();
    });
  });

  it("stores a change whole or not at all", async () => {
    await withStorage((storage, room) => {
      const log = openLog(storage, room);
      const all = fill(log, room, new Dice(3), 2);
      storage.sql.exec("CREATE TRIGGER broken BEFORE UPDATE ON batches_1 BEGIN SELECT RAISE(ABORT, 'disk full'); END");
      expect(() => log.keep(1, 1, DELETED)).toThrow(/disk full/);
      for (const each of [log, openLog(storage, room)]) {
        expect(each.page({ limit: 1000 }).messages).toEqual(all);
        expect(each.changedAfter(0, 10)).toEqual([]);
      }
    });
  });

  it.each(["no json", "[2,{}]"])("throws when it cannot read a change: %s", async (body) => {
    await withStorage((storage, room) => {
      const log = openLog(storage, room);
      fill(log, room, new Dice(3), 1);
      log.keep(1, 1, liked("ada"));
      storage.sql.exec("UPDATE changes_1 SET body = ?", body);
      expect(() => log.page({ limit: 1 + log.lastSeq })).toThrow(UnreadableBatch);
    });
  });
});

describe("rows written", () => {
  it("dropping a segment writes as many as without changes", async () => {
    const costOfTrim = (changes: number): Promise<number> =>
      withStorage((storage, room) => {
        const retention = { messages: 100, ageMs: 1e12 };
        const all = fill(openLog(storage, room, retention), room, new Dice(4), 40);
        const counted = new Counted(storage);
        const log = openLog(counted.storage, room, retention);
        for (const { seq } of all.slice(0, changes)) log.keep(seq, seq, liked("ada"));
        const { written } = counted.rowsOf(() => log.trim(START_MS));
        expect(log.firstSeq).toBeGreaterThan(1);
        return written;
      });
    expect(await costOfTrim(200)).toBe(await costOfTrim(0));
  });

  it("listing changes writes none and reads no message body", async () => {
    await withStorage((storage, room) => {
      fill(openLog(storage, room), room, new Dice(2), 20);
      const counted = new Counted(storage);
      const log = openLog(counted.storage, room);
      for (let seq = 1; seq <= 10; seq++) log.keep(seq, seq, liked("ada"));
      const { read, written } = counted.rowsOf(() => log.changedAfter(5, 100));
      expect(written).toBe(0);
      expect(read).toBeLessThan(100);
    });
  });
});

describe("a room whose messages change", () => {
  it("sends each change to every member, and keeps it through sleep: MSG-1 to MSG-6", async () => {
    const room = freshRoom();
    const [ada, mia] = [await join(room, "ada"), await joinModerator(room)];
    const posts = [];
    for (const content of ["one", "two", "three"])
      posts.push(await ada.ask<{ id: string }>("chat-message", { content }));
    const [one, two, three] = posts.map(({ id }) => id);
    const sleeper = new Sleeper(room);
    await sleeper.sleep();
    expect(await ada.ask("edit-message", { id: one, content: "@mia, one" })).toMatchObject({ ok: true });
    await sleeper.sleep();
    expect(await mia.ask("react", { id: one, emoji: "👍", on: true })).toEqual({ ok: true });
    expect(await mia.ask("delete-message", { id: two })).toEqual({ ok: true });
    await sleeper.sleep();
    const messages = [
      { id: one, content: "@mia, one", mentions: ["mia"], reactions: [{ emoji: "👍", count: 1, users: ["mia"] }] },
      { id: two, content: "", deleted: true },
      { id: three, content: "three" },
    ];
    expect(await ada.ask("history", {})).toMatchObject({ ok: true, messages });
    expect(await ada.ask("changes", { after: 0 })).toMatchObject({ ok: true, messages: messages.slice(0, 2) });
    expect(await mia.ask("versions", { id: one })).toMatchObject({ versions: [{ content: "one" }, { by: "ada" }] });
    for (const client of [ada, mia]) {
      expect(await client.receives("message-edited")).toMatchObject([{ id: one, seq: 1, content: "@mia, one" }]);
      expect(await client.receives("reaction")).toMatchObject([{ id: one, user: "mia", count: 1 }]);
      expect(await client.receives("message-deleted")).toMatchObject([{ id: two, seq: 2, by: "mia" }]);
    }
    expect(await runInDurableObject(stubOf(room), (_instance, { storage }) => dump(storage))).not.toMatch("two");
  });
});

/** All that stands in the tables of a room. */
function dump({ sql }: DurableObjectStorage): string {
  const query = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf%' ESCAPE '\\'";
  const tables = sql.exec<{ name: string }>(query).toArray();
  return JSON.stringify(tables.map(({ name }) => sql.exec(`SELECT * FROM "${name}"`).toArray()));
}
