// Overwriting what was deleted: what it asks of SQLite. That the text is gone from the file is tested from outside
// (outside/deleted-text).
import { expect, it } from "vitest";

import {
  blankAs,
  fillFreePages,
  FREE_BYTES_FILLED_MAX,
  inPlaceOf,
  isLonger,
  PAGE_FILLER,
} from "../../durable/sql/overwriting.ts";
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

const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

/** Leaves no page free. */
function occupy(sql: SqlStorage): void {
  sql.exec("CREATE TABLE full (body BLOB)");
  const bytes = sql.databaseSize;
  while (sql.databaseSize === bytes) sql.exec("INSERT INTO full VALUES (zeroblob(4000))");
}

it("what is shorter is as long as what it replaces, in bytes, and means the same", () => {
  const before = JSON.stringify({ c: "crème brûlée 🦊" });
  const after = inPlaceOf(before, JSON.stringify({ c: "" }));
  expect(bytesOf(after)).toBe(bytesOf(before));
  expect(JSON.parse(after)).toEqual({ c: "" });
  expect(inPlaceOf("{}", before)).toBe(before);
  expect(bytesOf(blankAs(before))).toBe(bytesOf(before));
  expect([isLonger("éé", "eeee"), isLonger("éé", "eeeee")]).toEqual([false, true]);
});

it("free pages are filled and given back, and the file does not grow by it", async () => {
  await withStorage((storage) => {
    const { sql } = storage;
    sql.exec("CREATE TABLE large (body BLOB)");
    for (let i = 0; i < 3; i++) sql.exec("INSERT INTO large VALUES (zeroblob(?))", 300_000 + i);
    sql.exec("DROP TABLE large");
    const bytes = sql.databaseSize;
    for (let i = 0; i < 5; i++) fillFreePages(storage);
    expect(sql.databaseSize).toBe(bytes);
    // Where nothing is free it takes the page of its own table, once.
    occupy(sql);
    for (let i = 0; i < 5; i++) fillFreePages(storage);
    expect(sql.databaseSize).toBeLessThanOrEqual(bytes + 3 * 4096);
  });
});

it("16 MiB of free pages are filled at a time", async () => {
  await withStorage((storage) => {
    const { sql } = storage;
    sql.exec("CREATE TABLE large (body BLOB)");
    for (let i = 0; i < 20; i++) sql.exec("INSERT INTO large VALUES (zeroblob(1000000))");
    sql.exec("DROP TABLE large");
    const counted = new Counted(storage);
    const { written } = counted.rowsOf(() => fillFreePages(counted.storage));
    const fillers = FREE_BYTES_FILLED_MAX / 262_144;
    expect(written).toBeGreaterThanOrEqual(fillers);
    expect(written).toBeLessThanOrEqual(fillers + 4);
  });
});

it("the first row of a table fills its first page: the next one stands on another", async () => {
  await withStorage((storage) => {
    const { sql } = storage;
    occupy(sql);
    sql.exec(
      "CREATE TABLE rows (seq INTEGER PRIMARY KEY, last INTEGER NOT NULL, body TEXT NOT NULL, skipped INTEGER NOT NULL)",
    );
    sql.exec("INSERT INTO rows VALUES (0, 0, ?, 0)", PAGE_FILLER);
    const bytes = sql.databaseSize;
    // As short as one message can be.
    sql.exec("INSERT INTO rows VALUES (1, 1, ?, 0)", encodeBatch([SHORT]));
    // The page that was the first is now above two others.
    expect(sql.databaseSize - bytes).toBe(2 * 4096);
  });
});
