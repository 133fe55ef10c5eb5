// Recovery logs in real SQLite: their answers are those of a plain list, or `undefined`; one log per name, and the log without a name.
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";

import { MISSED_BROADCASTS_MAX } from "../../../src/socketio/object/broadcast-tables.ts";
import { LOG_NAME_CHARS_MAX, NAMED_LOGS_MAX } from "../../../src/socketio/object/named-logs.ts";
import { SqlRecoveryLog } from "../../../src/socketio/object/sql-recovery-log.ts";
import { MISSED_BYTES_MAX, Recovery, type Broadcast } from "../../../src/socketio/recovery/recovery.ts";
import { dice } from "../../stock/host/dice.ts";

const WINDOW_MS = 1000;
const ME = (channel: string): boolean => channel === "me";

let objects = 0;
const withStorage = <Result>(run: (storage: DurableObjectStorage) => Result): Promise<Result> =>
  runInDurableObject(env.WHITEBOARD.getByName(`logs-${++objects}`), (_instance, { storage }) => run(storage));

const newName = (): string => crypto.randomUUID().replaceAll("-", "");
const logOf = (storage: DurableObjectStorage, given: { name?: string; now?: () => number } = {}): SqlRecoveryLog =>
  new SqlRecoveryLog(storage, { windowMs: WINDOW_MS, now: () => 1000, newName, ...given });

it.each([1, 2, 3, 4, 5, 6])("alternates its tables, and never answers in part: REC-3 (seed %i)", async (seed) => {
  await withStorage((storage) => {
    const roll = dice(seed);
    let nowMs = 1_000_000;
    const open = (): SqlRecoveryLog => logOf(storage, { now: () => nowMs });
    let log = open();
    const all: Array<Broadcast & { seq: number; atMs: number }> = [];
    let told = 0;
    for (let step = 0; step < 400; step++) {
      const action = roll(10);
      if (action < 5) {
        const broadcast: Broadcast = {
          event: `e${roll(3)}`,
          args: [step],
          ...(roll(2) && { channels: ["red", "blue", "me"].slice(roll(3)) }),
          ...(roll(4) === 0 && { except: [roll(2) ? "me" : "blue"] }),
        };
        all.push({ ...broadcast, seq: log.append(broadcast), atMs: nowMs });
      } else if (action < 7) nowMs += roll(roll(4) ? 200 : 2500);
      else if (action === 7) log = open();
      const from = Math.max(0, all.length - roll(60));
      const own = roll(2) ? ["red"] : ["blue", "green"];
      const mine = new Set(["me", ...own]);
      const missed = log.since(from, (channel) => mine.has(channel));
      const expected = all
        .filter(({ seq }) => seq > from)
        .filter(
          ({ channels, except }) => (channels?.some((c) => mine.has(c)) ?? true) && !except?.some((c) => mine.has(c)),
        )
        .map(({ seq, event, args }) => ({ seq, event, args }));
      if (missed) {
        told++;
        expect(
          missed.map(({ seq, event, args }) => ({ seq, event, args })),
          `step ${step}`,
        ).toEqual(expected);
      }
      // A client that left within the window finds everything there.
      const isFresh = all.filter(({ seq }) => seq > from).every(({ atMs }) => nowMs - atMs <= WINDOW_MS);
      if (isFresh) expect(missed, `step ${step}`).toBeDefined();
    }
    expect(log.lastSeq).toBe(all.length);
    expect(told).toBeGreaterThan(100);
    const rows = storage.sql.exec<{ n: number }>(
      "SELECT (SELECT count(*) FROM broadcasts_0) + (SELECT count(*) FROM broadcasts_1) AS n",
    );
    expect(rows.one().n, "and the tables do not grow for ever").toBeLessThan(all.length);
  });
});

it(`${MISSED_BROADCASTS_MAX} are replayed, one more is a fresh start: REC-3`, async () => {
  await withStorage((storage) => {
    const log = logOf(storage);
    for (let i = 0; i <= MISSED_BROADCASTS_MAX; i++) log.append({ event: "e", args: [i] });
    expect(log.since(1, ME)).toHaveLength(MISSED_BROADCASTS_MAX);
    expect(log.since(0, ME)).toBeUndefined();
  });
});

it("an offset before the oldest row recovers nothing, also after rows were deleted by hand", async () => {
  await withStorage((storage) => {
    const log = logOf(storage);
    for (let i = 0; i < 5; i++) log.append({ event: "e", args: [i] });
    storage.sql.exec("DELETE FROM broadcasts_0 WHERE seq <= 2");
    expect(log.since(1, ME)).toBeUndefined();
    expect(log.since(2, ME)).toHaveLength(3);
    storage.sql.exec("DELETE FROM broadcasts_0");
    expect(log.since(4, ME)).toBeUndefined();
    expect(log.since(5, ME)).toEqual([]);
  });
});

it("stores the state of a socket: channels, plain data, the time of its end", async () => {
  await withStorage((storage) => {
    const log = logOf(storage);
    const data = { text: "ä", list: [1, null], bytes: new Uint8Array([1, 2]), at: new Date(5), set: new Set([1]) };
    log.remember("a", { channels: ["x"], data });
    expect(log.recall("a")).toEqual({ channels: ["x"], data });
    log.remember("a", { channels: [], data: { n: 1 }, goneAtMs: 2000 });
    expect(log.recall("a")).toEqual({ channels: [], data: { n: 1 }, goneAtMs: 2000 });
    expect(log.recall("b")).toBeUndefined();
  });
});

it("rows of sockets whose object died are not kept for ever", async () => {
  await withStorage((storage) => {
    let nowMs = 1000;
    const open = (): SqlRecoveryLog => logOf(storage, { now: () => nowMs });
    for (let life = 0; life < 5; life++) {
      const log = open();
      // It never comes to say when this one went.
      log.remember(`socket-${life}`, { channels: ["x"], data: {} });
      for (let turn = 0; turn < 3; turn++) {
        nowMs += WINDOW_MS + 1;
        log.append({ event: "e", args: [] });
      }
    }
    expect([...storage.kv.list({ prefix: "remembered:" })].length).toBeLessThanOrEqual(2);
  });
});

it("rows of sockets that come and go without any broadcast are not kept for ever", async () => {
  await withStorage((storage) => {
    let nowMs = 1000;
    const open = (): SqlRecoveryLog => logOf(storage, { now: () => nowMs });
    const log = open();
    const visit = (of: SqlRecoveryLog, id: string): void => {
      nowMs += 2 * WINDOW_MS;
      of.remember(id, { channels: [], data: {} });
      of.remember(id, { channels: [], data: {}, goneAtMs: nowMs });
    };
    for (let i = 0; i < 50; i++) visit(log, `one life ${i}`);
    for (let i = 0; i < 50; i++) visit(open(), `many lives ${i}`);
    expect([...storage.kv.list({ prefix: "remembered:" })].length).toBeLessThanOrEqual(2);
  });
});

it("more than MISSED_BYTES_MAX cannot be recovered, however few broadcasts it is: REC-3", async () => {
  await withStorage((storage) => {
    const log = logOf(storage);
    const text = "x".repeat(60_000);
    const fitting = Math.floor(MISSED_BYTES_MAX / (text.length + 100));
    for (let i = 0; i < fitting + 1; i++) log.append({ event: "e", args: [text], channels: ["red"] });
    expect(log.since(1, () => true)).toHaveLength(fitting);
    expect(log.since(0, () => true)).toBeUndefined();
    expect(
      log.since(0, () => false),
      "what is not for it costs nothing",
    ).toEqual([]);
  });
});

it("takes broadcasts after the windows in which a client had missed too much: REC-3", async () => {
  await withStorage((storage) => {
    let nowMs = 1000;
    const log = logOf(storage, { now: () => nowMs });
    const text = "x".repeat(MISSED_BYTES_MAX / 4);
    for (let i = 0; i < 8; i++) log.append({ event: "e", args: [text] });
    expect(log.since(0, () => true)).toBeUndefined();
    for (let seq = 9; seq < 12; seq++) {
      nowMs += WINDOW_MS + 1;
      expect(log.append({ event: "e", args: [] })).toBe(seq);
    }
  });
});

it("an event with a reserved name is not stored, and other clients can recover: SIO-7", async () => {
  await withStorage((storage) => {
    const log = logOf(storage);
    expect(() => log.append({ event: "connect", args: [] })).toThrow('"connect" is a reserved event name');
    log.append({ event: "e", args: [] });
    expect(log.since(0, () => true)).toMatchObject([{ seq: 1, event: "e" }]);
  });
});

it("an offset that a restored backup does not have is refused, and others still recover", async () => {
  await withStorage((storage) => {
    const open = (): Recovery => new Recovery(logOf(storage), WINDOW_MS);
    const holder = { nsp: "/", owner: "ada" };
    const first = open();
    const pid = first.pid(holder.nsp, "ada-1", holder.owner);
    const seen = (recovery: Recovery, offset: string): number | undefined =>
      recovery.claim({ pid, offset }, holder)?.seq;
    const kept = ["1", "2"].map((text) => first.offset(first.log.append!({ event: "e", args: [text] })));
    const second = open();
    const lost = second.offset(second.log.append!({ event: "e", args: ["lost 3"] }));
    expect([...kept, lost].map((offset) => seen(open(), offset))).toEqual([1, 2, 3]);

    storage.sql.exec("DELETE FROM broadcasts_0 WHERE seq > 2");
    const restored = open();
    expect([...kept, lost].map((offset) => seen(restored, offset))).toEqual([1, 2, undefined]);
    const other = restored.offset(restored.log.append!({ event: "e", args: ["other 3"] }));
    for (const recovery of [restored, open()])
      expect([...kept, lost, other].map((offset) => seen(recovery, offset))).toEqual([1, 2, undefined, 3]);
  });
});

describe("named logs", () => {
  it.each(["", "x".repeat(LOG_NAME_CHARS_MAX + 1), "half a \ud83d"])(
    "what is empty, too long or no text is no name, and the error names it: %#",
    async (name) => {
      await withStorage((storage) => {
        expect(() => logOf(storage, { name })).toThrow(
          /^a recovery log's name has 1 to 255 characters of well-formed text, not/,
        );
      });
    },
  );

  it("any other text is: logs with different names share nothing", async () => {
    await withStorage((storage) => {
      const texts = [
        "/a",
        "/A",
        "a",
        "/a ",
        "ä",
        "a\u0308",
        '"; DROP TABLE broadcasts_0; --',
        "\u0000",
        "1",
        "1:x",
        "__proto__",
      ];
      const logs = [
        logOf(storage),
        ...[...texts, "x".repeat(LOG_NAME_CHARS_MAX)].map((name) => logOf(storage, { name })),
      ];
      for (const [at, log] of logs.entries()) {
        for (let i = 0; i <= at; i++) log.append({ event: "e", args: [at, i] });
        log.remember("me", { channels: [String(at)], data: at });
      }
      expect(new Set(logs.map(({ epoch }) => epoch)).size).toBe(logs.length);
      expect(new Set(logs.map(({ key }) => key)).size).toBe(logs.length);
      for (const [at, log] of logs.entries()) {
        expect(log.lastSeq).toBe(at + 1);
        expect(log.since(0, ME)!.map(({ args }) => args)).toEqual(Array.from({ length: at + 1 }, (_, i) => [at, i]));
        expect(log.recall("me")).toEqual({ channels: [String(at)], data: at });
      }
    });
  });

  it("clients who join namespaces in which nothing is said leave a row each, and no tables", async () => {
    await withStorage((storage) => {
      const tables = (): number =>
        storage.sql.exec("SELECT name FROM sqlite_master WHERE name LIKE 'broadcasts%'").toArray().length;
      const before = tables();
      const logs = Array.from({ length: 50 }, (_, at) => logOf(storage, { name: `/quiet-${at}` }));
      for (const log of logs) expect([log.epoch, log.lastSeq, log.since(0, ME)]).toEqual([expect.any(String), 0, []]);
      expect(tables()).toBe(before);
      expect(logs[7]!.append({ event: "e", args: [7] })).toBe(1);
      expect(tables()).toBe(before + 2);
      logs[7]!.close();
      logs[8]!.close();
      const [again, quiet] = [logOf(storage, { name: "/quiet-7" }), logOf(storage, { name: "/quiet-8" })];
      expect([again.epoch, again.since(0, ME)]).toEqual([logs[7]!.epoch, [expect.objectContaining({ args: [7] })]]);
      expect([quiet.epoch, quiet.since(0, ME)]).toEqual([logs[8]!.epoch, []]);
    });
  });

  describe("logs that nobody uses", () => {
    const count = (storage: DurableObjectStorage): number =>
      storage.sql.exec<{ count: number }>("SELECT count(*) AS count FROM recovery_logs").one().count;
    const visit = (storage: DurableObjectStorage, name: string, nowMs: number): void => {
      const log = logOf(storage, { name, now: () => nowMs });
      log.append({ event: "e", args: [name] });
      log.remember("me", { channels: [], data: name });
      log.close();
    };

    it("go a few at a time when others are made, after a window, and all in the end", async () => {
      await withStorage((storage) => {
        for (let at = 0; at < 100; at++) visit(storage, `/old-${at}`, 1000);
        expect(count(storage)).toBe(100);
        let least = 100;
        for (let at = 0; at < 60; at++) {
          const before = count(storage);
          visit(storage, `/new-${at}`, 1001 + WINDOW_MS);
          expect(before + 1 - count(storage), "removals in one turn").toBeLessThanOrEqual(8);
          least = Math.min(least, count(storage));
        }
        const left = storage.sql.exec<{ name: string }>("SELECT name FROM recovery_logs").toArray();
        expect(left.filter(({ name }) => name.startsWith("/old"))).toEqual([]);
        expect(left).toHaveLength(60);
        expect(
          storage.sql.exec("SELECT name FROM sqlite_master WHERE name LIKE 'broadcasts_of%'").toArray(),
        ).toHaveLength(120);
        expect([...storage.kv.list({ prefix: "remembered-" })]).toHaveLength(60);
      });
    });

    it("never become more than NAMED_LOGS_MAX, and those in use stay", async () => {
      await withStorage((storage) => {
        const used = logOf(storage, { name: "/used" });
        used.append({ event: "e", args: ["kept"] });
        for (let at = 0; at < NAMED_LOGS_MAX + 50; at++) {
          const log = logOf(storage, { name: `/flood-${at}` });
          expect(log.lastSeq).toBe(0);
          log.close();
        }
        expect(count(storage)).toBeLessThanOrEqual(NAMED_LOGS_MAX);
        expect(used.since(0, ME)).toMatchObject([{ args: ["kept"] }]);
        expect(used.append({ event: "e", args: ["and used"] })).toBe(2);
      });
    });

    it("of many stored sockets go in several steps", async () => {
      await withStorage((storage) => {
        const log = logOf(storage, { name: "/crowd" });
        for (let at = 0; at < 250; at++) log.remember(`socket ${at}`, { channels: [], data: at, goneAtMs: 1000 });
        log.close();
        const left: number[] = [];
        for (let at = 0; at < 4; at++) {
          visit(storage, `/later-${at}`, 1001 + WINDOW_MS);
          left.push([...storage.kv.list({ prefix: "remembered-" })].length - at - 1);
        }
        expect(left).toEqual([150, 50, 0, 0]);
      });
    });
  });

  it("channels whose names are no texts are found again", async () => {
    await withStorage((storage) => {
      const log = logOf(storage);
      const kinds = [42, "42", Number.NaN, -Infinity, 10n, true, false, null, undefined, "", "null"] as unknown[];
      const from = log.lastSeq;
      for (const [at, name] of kinds.entries())
        log.append({ event: "e", args: [at], channels: ["nobody", name as string], except: ["x"] });
      for (const [at, name] of kinds.entries()) {
        const missed = log.since(from, (channel) => Object.is(channel, name));
        expect(missed!.map(({ args }) => args)).toEqual([[at]]);
      }
    });
  });

  it("an event of a client's placeholder and bytes is read back as it was sent", async () => {
    await withStorage((storage) => {
      const log = logOf(storage, { name: "/bytes" });
      const fake = { _placeholder: true, num: 99 };
      log.append({ event: "e", args: [fake, new Uint8Array([1])] });
      log.append({ event: "e", args: [fake] });
      expect(log.since(0, ME)!.map(({ args }) => args)).toEqual([
        [{ ...fake, _placeholder: false }, new Uint8Array([1])],
        [fake],
      ]);
    });
  });

  it("the events of a log without a name, from before there were names, are still there", async () => {
    await withStorage((storage) => {
      storage.sql.exec(`
        DROP TABLE IF EXISTS log_names; DROP TABLE IF EXISTS broadcasts_0; DROP TABLE IF EXISTS broadcasts_1;
        CREATE TABLE log_names (epoch TEXT NOT NULL, key TEXT NOT NULL);
        INSERT INTO log_names VALUES ('old-epoch', 'old-key');
        CREATE TABLE broadcasts_0 (seq INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL, audience TEXT NOT NULL, body TEXT NOT NULL);
        CREATE TABLE broadcasts_1 (seq INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL, audience TEXT NOT NULL, body TEXT NOT NULL);
        INSERT INTO broadcasts_1 VALUES (41, 900, '{}', '42["e","kept"]');
      `);
      storage.kv.put("remembered:me", { channels: ["x"], data: {} });
      logOf(storage, { name: "beside it" }).remember("me", { channels: ["y"], data: {} });
      const log = logOf(storage);
      expect([log.epoch, log.key, log.lastSeq]).toEqual(["old-epoch", "old-key", 41]);
      expect(log.since(40, ME)).toMatchObject([{ seq: 41, event: "e", args: ["kept"] }]);
      expect(log.recall("me")?.channels).toEqual(["x"]);
    });
  });

  it("made twice, it has one epoch, by which a server refuses the second of two namespaces that write it", async () => {
    await withStorage((storage) => {
      const logs: Array<{ name?: string }> = [{}, { name: "x" }];
      for (const given of logs) expect(logOf(storage, given).epoch).toBe(logOf(storage, given).epoch);
    });
  });
});
