// The recovery log in real SQLite against a plain list: its answers are exact, or `undefined`.
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";

import { MISSED_BROADCASTS_MAX } from "../../../src/socketio/object/broadcast-tables.ts";
import { SqlRecoveryLog } from "../../../src/socketio/object/sql-recovery-log.ts";
import { MISSED_BYTES_MAX, Recovery, type Broadcast } from "../../../src/socketio/recovery/recovery.ts";

const WINDOW_MS = 1000;

/** Random numbers that are the same in every run. */
function dice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
}

function withStorage<Result>(name: string, run: (storage: DurableObjectStorage) => Result): Promise<Result> {
  return runInDurableObject(env.WHITEBOARD.getByName(name), (_instance, { storage }) => run(storage));
}

it.each([1, 2, 3, 4, 5, 6])("alternates its tables, and never answers in part: REC-3 (seed %i)", async (seed) => {
  await withStorage(`log-${seed}`, (storage) => {
    const roll = dice(seed);
    let nowMs = 1_000_000;
    const open = (): SqlRecoveryLog =>
      new SqlRecoveryLog(storage, { windowMs: WINDOW_MS, now: () => nowMs, newName: () => "a-name" });
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
  await withStorage("log-limit", (storage) => {
    const log = new SqlRecoveryLog(storage, { windowMs: WINDOW_MS, now: () => 1000, newName: () => "a-name" });
    for (let i = 0; i <= MISSED_BROADCASTS_MAX; i++) log.append({ event: "e", args: [i] });
    const me = (channel: string): boolean => channel === "me";
    expect(log.since(1, me)).toHaveLength(MISSED_BROADCASTS_MAX);
    expect(log.since(0, me)).toBeUndefined();
  });
});

it("an offset before the oldest row recovers nothing, also after rows were deleted by hand", async () => {
  await withStorage("log-cut", (storage) => {
    const log = new SqlRecoveryLog(storage, { windowMs: WINDOW_MS, now: () => 1000, newName: () => "a-name" });
    for (let i = 0; i < 5; i++) log.append({ event: "e", args: [i] });
    storage.sql.exec("DELETE FROM broadcasts_0 WHERE seq <= 2");
    const me = (channel: string): boolean => channel === "me";
    expect(log.since(1, me)).toBeUndefined();
    expect(log.since(2, me)).toHaveLength(3);
    storage.sql.exec("DELETE FROM broadcasts_0");
    expect(log.since(4, me)).toBeUndefined();
    expect(log.since(5, me)).toEqual([]);
  });
});

it("stores the state of a socket: channels, plain data, the time of its end", async () => {
  await withStorage("log-memory", (storage) => {
    let nowMs = 1000;
    const log = new SqlRecoveryLog(storage, { windowMs: WINDOW_MS, now: () => nowMs, newName: () => "a-name" });
    const data = { text: "ä", list: [1, null], bytes: new Uint8Array([1, 2]), at: new Date(5), set: new Set([1]) };
    log.remember("a", { channels: ["x"], data });
    expect(log.recall("a")).toEqual({ channels: ["x"], data });
    log.remember("a", { channels: [], data: { n: 1 }, goneAtMs: 2000 });
    expect(log.recall("a")).toEqual({ channels: [], data: { n: 1 }, goneAtMs: 2000 });
    expect(log.recall("b")).toBeUndefined();
  });
});

it("rows of sockets whose object died are not kept for ever", async () => {
  await withStorage("log-leak", (storage) => {
    let nowMs = 1000;
    const open = (): SqlRecoveryLog =>
      new SqlRecoveryLog(storage, { windowMs: WINDOW_MS, now: () => nowMs, newName: () => "a-name" });
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
  await withStorage("log-quiet", (storage) => {
    let nowMs = 1000;
    const open = (): SqlRecoveryLog =>
      new SqlRecoveryLog(storage, { windowMs: WINDOW_MS, now: () => nowMs, newName: () => "a-name" });
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
  await withStorage("log-bytes", (storage) => {
    const log = new SqlRecoveryLog(storage, { windowMs: WINDOW_MS, now: () => 1000, newName: () => "a-name" });
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
  await withStorage("log-too-much", (storage) => {
    let nowMs = 1000;
    const log = new SqlRecoveryLog(storage, { windowMs: WINDOW_MS, now: () => nowMs, newName: () => "a-name" });
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
  await withStorage("log-reserved", (storage) => {
    const log = new SqlRecoveryLog(storage, { windowMs: WINDOW_MS, now: () => 1000, newName: () => "a-name" });
    expect(() => log.append({ event: "connect", args: [] })).toThrow('"connect" is a reserved event name');
    log.append({ event: "e", args: [] });
    expect(log.since(0, () => true)).toMatchObject([{ seq: 1, event: "e" }]);
  });
});

it("an offset that a restored backup does not have is refused, and others still recover", async () => {
  await withStorage("log-restored", (storage) => {
    const nowMs = 1000;
    const open = (): Recovery => {
      const newName = (): string => crypto.randomUUID().replaceAll("-", "");
      return new Recovery(new SqlRecoveryLog(storage, { windowMs: WINDOW_MS, now: () => nowMs, newName }), WINDOW_MS);
    };
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
