// Token buckets by user. Tests of the limits on posts and requests: test/chat/rate.test.ts.
import { expect, it } from "vitest";

import { TokenBuckets } from "../../src/clock/token-bucket.ts";

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
