// Named recovery logs: valid names, one log per name, and the log without a name.
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";

import { LOG_NAME_CHARS_MAX, NAMED_LOGS_MAX } from "../../../src/socketio/object/named-logs.ts";
import { SqlRecoveryLog } from "../../../src/socketio/object/sql-recovery-log.ts";
import { CLOSINGS } from "../../../src/socketio/wire/closings.ts";
import { Recovery, type RecoveryLog } from "../../../src/socketio/recovery/recovery.ts";
import { Plain, Shell } from "../../host/plain-server.ts";

const WINDOW_MS = 1000;
const ME = (channel: string): boolean => channel === "me";

let names = 0;
const logOf = (storage: DurableObjectStorage, name?: string): SqlRecoveryLog =>
  new SqlRecoveryLog(storage, {
    windowMs: WINDOW_MS,
    now: () => 1000,
    newName: () => `name-${++names}`,
    ...(name !== undefined && { name }),
  });

let objects = 0;
const withStorage = <Result>(run: (storage: DurableObjectStorage) => Result): Promise<Result> =>
  runInDurableObject(env.WHITEBOARD.getByName(`logs-${++objects}`), (_instance, { storage }) => run(storage));

class Recoverable extends Plain {
  override readonly recovery: Recovery;
  constructor(log: RecoveryLog) {
    super();
    this.recovery = new Recovery(log, WINDOW_MS);
  }
}

it.each(["", "x".repeat(LOG_NAME_CHARS_MAX + 1), "half a \ud83d"])(
  "what is empty, too long or no text is no name, and the error names it: %#",
  async (name) => {
    await withStorage((storage) => {
      expect(() => logOf(storage, name)).toThrow(
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
    const logs = [logOf(storage), ...[...texts, "x".repeat(LOG_NAME_CHARS_MAX)].map((name) => logOf(storage, name))];
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
    const logs = Array.from({ length: 50 }, (_, at) => logOf(storage, `/quiet-${at}`));
    for (const log of logs) expect([log.epoch, log.lastSeq, log.since(0, ME)]).toEqual([expect.any(String), 0, []]);
    expect(tables()).toBe(before);
    expect(logs[7]!.append({ event: "e", args: [7] })).toBe(1);
    expect(tables()).toBe(before + 2);
    logs[7]!.close();
    logs[8]!.close();
    const [again, quiet] = [logOf(storage, "/quiet-7"), logOf(storage, "/quiet-8")];
    expect([again.epoch, again.since(0, ME)]).toEqual([logs[7]!.epoch, [expect.objectContaining({ args: [7] })]]);
    expect([quiet.epoch, quiet.since(0, ME)]).toEqual([logs[8]!.epoch, []]);
  });
});

describe("logs that nobody uses", () => {
  const count = (storage: DurableObjectStorage): number =>
    storage.sql.exec<{ count: number }>("SELECT count(*) AS count FROM recovery_logs").one().count;
  const visit = (storage: DurableObjectStorage, name: string, nowMs: number): void => {
    const log = new SqlRecoveryLog(storage, {
      windowMs: WINDOW_MS,
      now: () => nowMs,
      newName: () => `n-${++names}`,
      name,
    });
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
      const used = logOf(storage, "/used");
      used.append({ event: "e", args: ["kept"] });
      for (let at = 0; at < NAMED_LOGS_MAX + 50; at++) {
        const log = logOf(storage, `/flood-${at}`);
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
      const log = logOf(storage, "/crowd");
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
    const log = logOf(storage, "/bytes");
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
    logOf(storage, "beside it").remember("me", { channels: ["y"], data: {} });
    const log = logOf(storage);
    expect([log.epoch, log.key, log.lastSeq]).toEqual(["old-epoch", "old-key", 41]);
    expect(log.since(40, ME)).toMatchObject([{ seq: 41, event: "e", args: ["kept"] }]);
    expect(log.recall("me")?.channels).toEqual(["x"]);
  });
});

describe("two namespaces cannot write one log", () => {
  const sharings: Array<[how: string, logs: (storage: DurableObjectStorage) => [RecoveryLog, RecoveryLog]]> = [
    [
      "given to both",
      (storage) => {
        const log = logOf(storage);
        return [log, log];
      },
    ],
    ["made twice without a name", (storage) => [logOf(storage), logOf(storage)]],
    ["made twice with the same name", (storage) => [logOf(storage, "x"), logOf(storage, "x")]],
  ];

  it.each(sharings)("%s: a server of both does not start", async (_how, logs) => {
    await withStorage((storage) => {
      const [a, b] = logs(storage);
      const start = (): Shell => new Shell(() => ({ static: { "/a": new Recoverable(a), "/b": new Recoverable(b) } }));
      expect(start).toThrow("namespaces /a and /b share one recovery log");
    });
  });

  it.each(sharings)(
    "%s: of those made on demand the second is not entered, and the first stays",
    async (_how, logs) => {
      await withStorage(async (storage) => {
        const [a, b] = logs(storage);
        const shell = new Shell(() => ({
          static: {},
          dynamic: [{ match: /.*/, create: (nsp) => new Recoverable(nsp === "/a" ? a : b) }],
        }));
        const [first, second] = [await shell.connect("/a"), await shell.connect("/b")];
        const lastFrames = [first, second].map(({ frames }) => frames.at(-1)!.slice(0, 5));
        expect(lastFrames, "SIO-14: refused with CONNECT_ERROR").toEqual(["40/a,", "44/b,"]);
        expect(shell.problems).toEqual([expect.stringContaining("namespaces /a and /b share one recovery log")]);
        shell.leave(first);
        const third = await shell.connect("/b");
        expect(third.closing, "and once the first one went it is free").toBeUndefined();
      });
    },
  );
});

it("a namespace that cannot be made again after sleep closes its own sessions, which may come back, and no others", async () => {
  await withStorage(async (storage) => {
    let isBroken = false;
    const shell = new Shell(() => ({
      static: { "/": new Plain() },
      dynamic: [
        {
          match: /.*/,
          create: () => {
            if (isBroken) throw new Error("a bug");
            return new Recoverable(logOf(storage));
          },
        },
      ],
    }));
    const [unlucky, both, other] = [
      await shell.connect("/a"),
      await shell.connect("/", "/a"),
      await shell.connect("/"),
    ];
    isBroken = true;
    shell.sleep();
    await shell.send(other, '42["echo",1]');
    expect(other.heard("echoed")).toEqual([[1]]);
    expect(shell.problems[0]).toBe("the namespace /a could not be made again: Error: a bug");
    expect([unlucky, both, other].map(({ closing }) => closing)).toEqual([
      CLOSINGS.restart.reason,
      CLOSINGS.restart.reason,
      undefined,
    ]);
  });
});
