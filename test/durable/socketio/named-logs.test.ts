// Named recovery logs: valid names, one log per name, and the log without a name.
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";

import { LOG_NAME_CHARS_MAX } from "../../../durable/socketio/named-logs.ts";
import { SqlRecoveryLog } from "../../../durable/socketio/sql-recovery-log.ts";
import { CLOSINGS } from "../../../src/socketio/wire/closings.ts";
import { Recovery, type RecoveryLog } from "../../../src/socketio/recovery/recovery.ts";
import { Plain, Shell } from "../api-app.ts";

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
