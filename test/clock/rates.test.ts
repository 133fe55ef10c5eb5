// Rates: a throttle, a throttled run, windows with counts per key, token buckets, spans of time that pass, and waits before retries. Tests of the
// limits on posts and requests: test/chat/rate.test.ts.
import { describe, expect, it } from "vitest";

import { Deadlines } from "../../src/clock/deadlines.ts";
import { hasPassed, Throttle, ThrottledRun, TokenBuckets, waitAfter, Window } from "../../src/clock/rates.ts";

const WINDOW_MS = 50;

function throttled(burst = 1): {
  request: (nowMs: number) => void;
  tick: (nowMs: number) => void;
  runs: number[];
  dueMs: () => number | undefined;
} {
  const deadlines = new Deadlines();
  const runs: number[] = [];
  let clockMs = 0;
  const run = new ThrottledRun(
    { windowMs: () => WINDOW_MS, burst: () => burst },
    () => runs.push(clockMs),
    (due) => deadlines.add("flush", due),
  );
  return {
    request: (nowMs) => run.request((clockMs = nowMs)),
    tick: (nowMs) => void deadlines.runDue((clockMs = nowMs), () => undefined),
    runs,
    dueMs: () => deadlines.next(),
  };
}

describe("a throttled run", () => {
  it("runs at once after a quiet window", () => {
    const { request, runs } = throttled();
    request(1000);
    request(1000 + WINDOW_MS);
    expect(runs).toEqual([1000, 1050]);
  });

  it("gathers the requests of a window, and runs at its end", () => {
    const { request, tick, runs, dueMs } = throttled();
    for (const nowMs of [1000, 1010, 1049]) request(nowMs);
    expect([runs, dueMs()]).toEqual([[1000], 1050]);
    tick(1050);
    expect([runs, dueMs()]).toEqual([[1000, 1050], undefined]);
  });

  it("gathers requests again after a run that took longer than the window", () => {
    const { request, tick, runs, dueMs } = throttled();
    request(1000);
    request(1020);
    // The clock stood still while the room was busy; now its queue is worked off, and the timer's turn comes after it.
    for (let queued = 0; queued < 20; queued++) request(1075);
    expect([runs, dueMs()]).toEqual([[1000], 1050]);
    tick(1075);
    expect(runs).toEqual([1000, 1075]);
  });

  it("runs as often as its burst at once after quiet, then once per window", () => {
    const { request, tick, runs, dueMs } = throttled(3);
    for (const nowMs of [1000, 1005, 1010, 1015, 1020]) request(nowMs);
    expect([runs, dueMs()]).toEqual([[1000, 1005, 1010], 1050]);
    tick(1050);
    request(1060);
    expect([runs.at(-1), dueMs()]).toEqual([1050, 1100]);
    tick(1100);
    // After a quiet window one run may come at once, after three of them three.
    for (const nowMs of [1150, 1155]) request(nowMs);
    expect([runs.slice(-2), dueMs()]).toEqual([[1100, 1150], 1200]);
    tick(1200);
    for (const nowMs of [1350, 1355, 1360, 1365]) request(nowMs);
    expect([runs.slice(-3), dueMs()]).toEqual([[1350, 1355, 1360], 1400]);
  });

  it("gathers requests of the same moment in a burst, too", () => {
    const { request, tick, runs, dueMs } = throttled(3);
    for (let i = 0; i < 10; i++) request(1000);
    expect([runs, dueMs()]).toEqual([[1000], 1005]);
    tick(1005);
    expect([runs, dueMs()]).toEqual([[1000, 1005], undefined]);
  });

  it("runs at once after the clock was set back", () => {
    const { request, runs } = throttled();
    request(10_000_000);
    for (const nowMs of [1000, 1010]) request(nowMs);
    expect(runs).toEqual([10_000_000, 1000]);
  });

  it("does not wait for a timer that a burst starves", () => {
    const { request, runs } = throttled();
    for (let nowMs = 1000; nowMs <= 1300; nowMs += 5) request(nowMs);
    expect(runs).toEqual([1000, 1100, 1200, 1300]);
  });
});

describe("a throttle", () => {
  it("is open once per window, and at the end of it", () => {
    const throttle = new Throttle(WINDOW_MS);
    expect([1000, 1000, 1049, 1050, 1051].map((nowMs) => throttle.passIfOpen(nowMs))).toEqual([
      true,
      false,
      false,
      true,
      false,
    ]);
    expect(throttle.dueMs(1051)).toBe(1100);
  });

  it("doubles its window while it is in use, up to the largest, and falls back after quiet", () => {
    const throttle = new Throttle(50, 180);
    const windows = [1000, 1050, 1150, 1330, 2000].map((nowMs) => {
      expect(throttle.passIfOpen(nowMs)).toBe(true);
      return throttle.dueMs(nowMs) - nowMs;
    });
    expect(windows).toEqual([50, 100, 180, 180, 50]);
  });

  it("opens after the clock was set back", () => {
    const throttle = new Throttle(WINDOW_MS);
    throttle.pass(10_000_000);
    expect([throttle.isOpen(1000), throttle.dueMs(1000)]).toEqual([true, 1000]);
  });

  it("keeps its window through sleep", () => {
    const [before, after] = [new Throttle(50, 200), new Throttle(50, 200)];
    for (const nowMs of [1000, 1050]) before.pass(nowMs);
    after.restore(structuredClone(before.state));
    expect([after.isOpen(1149), after.isOpen(1150)]).toEqual([false, true]);
  });

  it("opens by reopen", () => {
    const throttle = new Throttle(WINDOW_MS);
    throttle.pass(1000);
    throttle.reopen();
    expect(throttle.isOpen(1001)).toBe(true);
  });
});

describe("hasPassed", () => {
  it("has passed from its last millisecond on", () => {
    expect([1000, 1099, 1100].map((nowMs) => hasPassed(1000, 100, nowMs))).toEqual([false, false, true]);
  });

  it("has passed if there was no beginning, or the clock was set back", () => {
    expect([hasPassed(-Infinity, 100, 0), hasPassed(1000, 100, 999)]).toEqual([true, true]);
  });
});

describe("Window", () => {
  const LENGTH_MS = 10_000;

  it("counts each key by itself, in a window for all keys", () => {
    const window = new Window(LENGTH_MS);
    expect([window.count("a", 1000), window.count("a", 1000), window.count("b", 10_999)]).toEqual([1, 2, 1]);
    expect([window.countOf("a", 10_999), window.restMs(10_999)]).toEqual([2, 1]);
    expect([window.count("a", 11_000), window.countOf("b", 11_000)]).toEqual([1, 0]);
  });

  it("begins a new window when the clock is set back", () => {
    const window = new Window(LENGTH_MS);
    window.count("a", 1_000_000);
    expect([window.count("a", 1000), window.restMs(1000)]).toEqual([1, LENGTH_MS]);
  });

  it("forgets a key on request", () => {
    const window = new Window(LENGTH_MS);
    for (const key of ["a", "b"]) window.count(key, 0);
    window.forget("a");
    expect([window.countOf("a", 0), window.countOf("b", 0)]).toEqual([0, 1]);
  });

  it("forgets the key that was counted longest ago when there are too many", () => {
    const window = new Window(LENGTH_MS, 2);
    for (const key of ["a", "b", "a", "a"]) window.count(key, 0);
    // However many others come, a key that keeps coming keeps its count.
    for (const key of ["c", "a", "d", "a", "e"]) window.count(key, 0);
    expect(["a", "b", "c", "d", "e"].map((key) => window.countOf(key, 0))).toEqual([5, 0, 0, 0, 1]);
  });
});

describe("waitAfter", () => {
  it("doubles with each failure, up to the longest wait", () => {
    expect([1, 2, 3, 4, 5, 2000].map((failures) => waitAfter({ first: 5, max: 60 }, failures))).toEqual([
      5, 10, 20, 40, 60, 60,
    ]);
  });
});

describe("token buckets", () => {
  const SLOW = { perSecond: 1, burst: 3 };
  const takes = (buckets: TokenBuckets, nowMs: number, times: number): boolean[] =>
    Array.from({ length: times }, () => buckets.take("ada", nowMs).ok);

  it("gives a burst, then the tokens that come back, and returns the wait", () => {
    const buckets = new TokenBuckets(SLOW);
    expect(takes(buckets, 1000, 4)).toEqual([true, true, true, false]);
    expect(buckets.take("ada", 1500)).toEqual({ ok: false, retryAfterMs: 500 });
    expect(takes(buckets, 2000, 2)).toEqual([true, false]);
    expect(buckets.take("ben", 2000).ok).toBe(true);
  });

  it("leaves a debt if more is charged than there is", () => {
    const buckets = new TokenBuckets(SLOW);
    buckets.charge("ada", 1000, 5);
    expect(buckets.take("ada", 1000)).toEqual({ ok: false, retryAfterMs: 3000 });
  });

  it("gives no tokens when the clock is set back, and goes on from the new time", () => {
    const buckets = new TokenBuckets(SLOW);
    takes(buckets, 3_600_000, 3);
    expect(buckets.take("ada", 1000)).toEqual({ ok: false, retryAfterMs: 1000 });
    expect(takes(buckets, 2000, 2)).toEqual([true, false]);
  });

  it("restores the latest state of a bucket, and of two at one time the emptier", () => {
    const buckets = new TokenBuckets(SLOW);
    const states = [
      { tokens: 1, atMs: 1000 },
      { tokens: 2, atMs: 1500 },
      { tokens: 0, atMs: 1500 },
      { tokens: 0, atMs: 900 },
    ];
    for (const state of states) buckets.restore("ada", state, 1500);
    expect(buckets.of("ada", 1500)).toEqual({ tokens: 0, atMs: 1500 });
  });

  it("knows whether a bucket is full again after a while", () => {
    const buckets = new TokenBuckets(SLOW);
    const bucket = { tokens: 1, atMs: 1000 };
    expect(buckets.lacksAfter(bucket, 1999)).toBe(true);
    expect(buckets.lacksAfter(bucket, 2000)).toBe(false);
  });
});
