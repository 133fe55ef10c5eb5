// Tests that deleted texts are overwritten in SQLite. test/outside/deleted-text.test.ts looks for them in the file itself.
import { expect, it } from "vitest";

import { fillFreePages, FREE_BYTES_FILLED_MAX } from "../../src/objects/sql/free-pages.ts";
import { blankAs, inPlaceOf, isLonger, PAGE_FILLER } from "../../src/objects/sql/in-place.ts";
import { encodeBatch } from "../../src/chat/log/batch-format.ts";
import type { Message } from "../../src/protocol/chat-events.ts";
import { Counted, withStorage } from "./logs.ts";

const SHORT: Message = {
  id: "",
  seq: 1,
  room: "r",
  sender: "a",
  name: "a",
  content: "b",
  timestamp: 1_700_000_000_000,
};

const PAGE_BYTES = 4096;

const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

it("a shorter value is padded to the bytes of the one that it replaces, and means the same", () => {
  const before = JSON.stringify({ c: "crème brûlée 🦊" });
  const after = inPlaceOf(before, JSON.stringify({ c: "" }));
  expect(bytesOf(after)).toBe(bytesOf(before));
  expect(JSON.parse(after)).toEqual({ c: "" });
  expect(inPlaceOf("{}", before)).toBe(before);
  expect(bytesOf(blankAs(before))).toBe(bytesOf(before));
  expect([isLonger("éé", "eeee"), isLonger("éé", "eeeee")]).toEqual([false, true]);
});

it("free pages are overwritten and freed again", async () => {
  await withStorage((storage) => {
    const { sql } = storage;
    sql.exec("CREATE TABLE large (body BLOB)");
    const empty = sql.databaseSize;
    for (let i = 0; i < 3; i++) sql.exec("INSERT INTO large VALUES (zeroblob(?))", 300_000 + i);
    const bytes = sql.databaseSize;
    sql.exec("DELETE FROM large");
    const counted = new Counted(storage);
    const { written } = counted.rowsOf(() => fillFreePages(counted.storage, bytes));
    // Of 256 KiB and smaller.
    expect(written).toBeGreaterThan((bytes - empty) / 265_945);
    expect(sql.databaseSize).toBe(empty);
  });
});

it("16 MiB of free pages are overwritten at a time", async () => {
  await withStorage((storage) => {
    const { sql } = storage;
    sql.exec("CREATE TABLE large (body BLOB)");
    for (let i = 0; i < 20; i++) sql.exec("INSERT INTO large VALUES (zeroblob(1000000))");
    const bytes = sql.databaseSize;
    sql.exec("DROP TABLE large");
    const counted = new Counted(storage);
    const { written } = counted.rowsOf(() => fillFreePages(counted.storage, bytes));
    const fillers = FREE_BYTES_FILLED_MAX.part / 265_945;
    expect(written).toBeGreaterThanOrEqual(fillers);
    expect(written).toBeLessThanOrEqual(fillers + 4);
  });
});

it("the first row of a table fills its first page: the next one stands on another", async () => {
  await withStorage((storage) => {
    const { sql } = storage;
    sql.exec(
      "CREATE TABLE rows (seq INTEGER PRIMARY KEY, last INTEGER NOT NULL, body TEXT NOT NULL, skipped INTEGER NOT NULL)",
    );
    sql.exec("INSERT INTO rows VALUES (0, 0, ?, 0)", PAGE_FILLER);
    const bytes = sql.databaseSize;
    // The shortest batch that there can be.
    sql.exec("INSERT INTO rows VALUES (1, 1, ?, 0)", encodeBatch([SHORT]));
    // Two new pages, one for each row: SQLite moves the first row out of the table's root page, which now points to both.
    expect(sql.databaseSize - bytes).toBe(2 * PAGE_BYTES);
  });
});
