// The simulated storage of an object: the values that it gives to code, and those that a crash takes.
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { statementsOf } from "./simulator/sql.ts";
import { Storage } from "./simulator/storage.ts";

let storage: Storage;
beforeEach(() => {
  storage = new Storage();
  storage.sql.exec("CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT)");
  commit();
});
afterEach(() => storage.close());

/** The event is over, and its writes become durable. */
function commit(): void {
  storage.confirm(storage.closeGroup()!);
}

const rows = (): unknown[] =>
  storage.sql
    .exec("SELECT a, b FROM t")
    .toArray()
    .map(({ a }) => a);

describe("sql", () => {
  it("takes several statements, and gives the bindings to the last", () => {
    storage.sql.exec(
      "INSERT INTO t VALUES (1, ';'); -- a comment; with a semicolon\nINSERT INTO t VALUES (?, ?)",
      2,
      "x",
    );
    expect(storage.sql.exec("SELECT * FROM t").toArray()).toEqual([
      { a: 1, b: ";" },
      { a: 2, b: "x" },
    ]);
  });

  it("splits no trigger and no text", () => {
    const trigger = "CREATE TRIGGER g AFTER INSERT ON t BEGIN UPDATE t SET b = 'x;y'; DELETE FROM t; END";
    expect(statementsOf(`${trigger}; SELECT 1`)).toEqual([trigger, "SELECT 1"]);
  });

  it("gives the rows of RETURNING, and those of a cursor once", () => {
    const cursor = storage.sql.exec("INSERT INTO t VALUES (1, 'x'), (2, 'y') RETURNING a");
    expect([cursor.columnNames, cursor.rowsWritten]).toEqual([["a"], 2]);
    expect(cursor.next()).toEqual({ done: false, value: { a: 1 } });
    expect(cursor.toArray()).toEqual([{ a: 2 }]);
    expect(cursor.toArray()).toEqual([]);
  });

  it("gives bytes as an ArrayBuffer, and takes one", () => {
    const [row] = storage.sql.exec("SELECT ? AS bytes", new Uint8Array([1, 2]).buffer).toArray();
    expect(new Uint8Array(row!["bytes"] as ArrayBuffer)).toEqual(new Uint8Array([1, 2]));
  });

  it("counts writes that begin with WITH as such", () => {
    storage.sql.exec("WITH one AS (SELECT 7 AS a) INSERT INTO t SELECT a, 'x' FROM one");
    storage.crash(0);
    expect(rows()).toEqual([]);
  });
});

describe("key-value storage", () => {
  it("keeps values of all kinds, in both of its forms", async () => {
    storage.kv.put("a", { at: new Date(0), list: [1n] });
    await storage.put({ "b:1": 1, "b:2": 2 });
    expect(await storage.get("a")).toEqual({ at: new Date(0), list: [1n] });
    expect(await storage.list({ prefix: "b:", reverse: true, limit: 1 })).toEqual(new Map([["b:2", 2]]));
    expect(await storage.get(["b:1", "c"])).toEqual(new Map([["b:1", 1]]));
    expect(storage.kv.delete("c")).toBe(false);
    expect(await storage.delete(["b:1", "b:2", "c"])).toBe(2);
    expect([...storage.kv.list()].map(([key]) => key)).toEqual(["a"]);
  });
});

describe("transactions", () => {
  it("undo their writes when they throw, also after a crash", async () => {
    const fails = (): void => {
      storage.sql.exec("INSERT INTO t VALUES (1, 'x')");
      throw new Error("no");
    };
    expect(() => storage.transactionSync(fails)).toThrow("no");
    await expect(storage.transaction(async () => fails())).rejects.toThrow("no");
    storage.sql.exec("INSERT INTO t VALUES (2, 'x')");
    commit();
    storage.crash(0);
    expect(rows()).toEqual([2]);
  });
});

describe("a crash", () => {
  it("takes the youngest writes first", () => {
    for (const a of [1, 2, 3]) {
      storage.sql.exec("INSERT INTO t VALUES (?, 'x')", a);
      storage.closeGroup();
    }
    storage.sql.exec("INSERT INTO t VALUES (4, 'x')");
    expect(rows()).toEqual([1, 2, 3, 4]);
    storage.crash(2);
    expect(rows()).toEqual([1, 2]);
  });

  it("takes nothing that is durable", () => {
    storage.sql.exec("INSERT INTO t VALUES (1, 'x')");
    const first = storage.closeGroup()!;
    storage.sql.exec("INSERT INTO t VALUES (2, 'x')");
    storage.confirm(first);
    storage.crash(0);
    expect(rows()).toEqual([1]);
  });
});

describe("a backup", () => {
  it("takes back all that became durable after it, tables and alarm, too", async () => {
    storage.sql.exec("INSERT INTO t VALUES (1, 'x')");
    await storage.setAlarm(5);
    commit();
    const backup = storage.backup();
    storage.sql.exec("DELETE FROM t; CREATE TABLE u (a)");
    await storage.deleteAlarm();
    commit();
    storage.crash(0);
    storage.restore(backup);
    expect(rows()).toEqual([1]);
    expect(await storage.getAlarm()).toBe(5);
    expect(() => storage.sql.exec("SELECT * FROM u")).toThrow("no such table");
    storage.sql.exec("INSERT INTO t VALUES (2, 'x')");
    commit();
    expect(rows()).toEqual([1, 2]);
  });
});
